// A machine's profile as a file has it: haichi.machine/1, a few numbers, and haichi.machine/2, what
// `haichi fit` makes of measurements: numbers with where they come from, curves, and of which
// machine they are.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "machine/numa_paths.h"
#include "machine/size_curve.h"

namespace haichi::machine {

inline constexpr std::string_view kSchema1 = "haichi.machine/1";
inline constexpr std::string_view kSchema2 = "haichi.machine/2";

/// What tells machines apart; what is empty is not known, and fits any.
struct Signature {
  std::string library;    ///< of MPI: the first line of MPI_Get_library_version
  std::string processor;  ///< model name
  int cores = 0;          ///< of a node
  std::vector<std::string> node_names;
  std::optional<bool> network;  ///< whether there are messages between nodes
};

struct Profile {
  Machine machine;
  std::string name;    ///< for people; may be empty
  std::string source;  ///< "measured", "paper", "assumed"; empty of haichi.machine/1
  std::string made;    ///< when, ISO 8601; may be empty
  Signature signature;
  std::vector<CollectiveCurve> collectives;
  std::optional<NumaPaths> numa;  ///< between the NUMA nodes of one node, if measured
};

/// Reads either form. What is left out has its default. Members that this version does not know are
/// passed over in haichi.machine/2, but not among its numbers; in haichi.machine/1 nowhere. Fails
/// with EINVAL and a line: which key is wrong, and what to do.
Result<Profile> parse_profile(std::string_view text);

}  // namespace haichi::machine
