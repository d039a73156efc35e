// The patterns that can be simulated, each in a file of its own: how a case of it becomes the
// schedules of all ranks. A new one is its function, and its row in the table of pattern.cpp.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "machine/machine.h"
#include "patterns/job.h"
#include "patterns/parameters.h"
#include "placement/placement.h"

namespace haichi::patterns {

/// A case; the placement must outlive the job.
struct Case {
  const placement::Placement& placement;
  const machine::Machine& machine;
  Parameters parameters;
};

struct Pattern {
  std::string_view name;
  std::string_view help;
  /// Names of the parameters that it has.
  std::span<const std::string_view> parameters;
  /// How many of them, the first ones, are looked at with each of their words if none is asked for.
  size_t alternatives;
  Parameters defaults;
  /// Fails with EINVAL, or as reading a file does.
  Result<Job> (*make)(const Case& of);

  bool has(std::string_view parameter) const;
};

std::span<const Pattern> patterns();

/// The one of that name, or null.
const Pattern* find_pattern(std::string_view name);

/// Everybody's message to everybody, by an algorithm of src/collectives; by default as paper 000
/// (section 4.1) has it, except that a rank copies what it has for itself.
Result<Job> all_to_all(const Case& of);

/// Everybody's one block to everybody.
Result<Job> all_gather(const Case& of);

/// The same with as many bytes as a file says for each pair (byte_matrix.h); no message where there
/// are none.
Result<Job> all_to_all_v(const Case& of);

/// Each rank sends to the one that is `distance` further in a ring and receives from the one that
/// is as far behind (MPI_Sendrecv); with `exchange` the other way too.
Result<Job> shift(const Case& of);
Result<Job> exchange(const Case& of);

/// Everybody's collective access of one file in regions (A. Ching et al., IPDPS 2006; paper 000,
/// section 4.2), as bench/io/hpio.c does it, by the schedules of src/mpiio. The file is striped
/// over the machine's servers, and the plan knows it. Ranks' agreement before the access and their
/// packing of messages take no time.
Result<Job> hpio(const Case& of);

/// What a file says (recorded.h).
Result<Job> recorded(const Case& of);

}  // namespace haichi::patterns
