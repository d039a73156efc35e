// Which bytes go from whom to whom in a call of which only each rank's sums are recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "record/record.h"
#include "replay/function.h"

namespace haichi::replay {

/// What each member of a communicator sends and receives in one call, in bytes.
struct Sums {
  std::vector<int64_t> sent, received;
};

/// What `from` sends to `to` in an MPI_Alltoallv: sent * received / all, so that a rank that
/// receives much gets much from each. Rounded down; the same whoever computes it.
int64_t share(const Sums& sums, int from, int to);

/// The sums of a communicator's calls with varying sizes, one call after the other. Walks all
/// members' sequences, of each only these calls.
class VaryingCalls {
 public:
  VaryingCalls(const record::Record& record, const record::Communicator& comm);
  ~VaryingCalls();
  VaryingCalls(VaryingCalls&&) noexcept;

  /// Of the next call. Never called more often than all members have such calls.
  const Sums& next();

 private:
  struct Member;
  std::vector<std::unique_ptr<Member>> members_;
  Sums sums_;
};

}  // namespace haichi::replay
