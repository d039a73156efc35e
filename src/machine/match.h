// Whether a profile is of the machine that a job runs on.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <string>

#include "machine/profile.h"

namespace haichi::machine {

struct Match {
  /// How it differs from what is here, in words; empty: it may be of this machine.
  std::string difference;
  int agreements = 0;    ///< members of the signature that are known on both sides, and alike
  bool telling = false;  ///< it says of which MPI library it is, and of which nodes or processor
  bool exact = false;    ///< all members are known, and every node of the job was measured

  bool fits() const { return difference.empty(); }
};

/// `here` is the job's: the names of its nodes, and whether there are several. Nodes of a cluster
/// that were not measured count as alike if their names differ in digits only. What was measured
/// on one node says nothing of a job on several.
Match match(const Signature& profile, const Signature& here);

}  // namespace haichi::machine
