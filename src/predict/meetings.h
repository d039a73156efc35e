// The collective calls that ranks have come to: who came last, and whether all make the same one.
//
// PURE.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "predict/job.h"
#include "sim/time.h"

namespace haichi::predict {

/// One communicator as it is used.
struct Members {
  int id = 0;
  std::vector<int> ranks;              ///< of the world
  placement::Placement placement;      ///< of its own ranks
  std::unordered_map<int, int> place;  ///< of world ranks among its own
  std::vector<uint64_t> calls;         ///< that each of its ranks has come to
};

/// A collective call of a communicator, until all have left it.
struct Meeting {
  int function = 0, first = -1;  ///< what the first rank to come called, and its number
  int64_t bytes = 0;             ///< and its bytes, by which all choose the algorithm
  int come = 0, left = 0;
  sim::Time last = 0;
  int last_rank = -1;
  sim::Time root = -1;  ///< when the root came
};

class Meetings {
 public:
  explicit Meetings(std::span<const Communicator> communicators,
                    const placement::Placement& placement);

  /// Index of the communicator with that id, if there is one with that rank in it.
  std::optional<size_t> find(int id, int rank) const;
  Members& members(size_t comm) { return members_[comm]; }
  /// A rank comes; returns the number of the call, and the meeting.
  std::pair<uint64_t, Meeting*> come(size_t comm, int rank, int function, int64_t bytes,
                                     bool is_root, sim::Time at);
  Meeting& meeting(size_t comm, uint64_t number) { return meetings_[key(comm, number)]; }
  void leave(size_t comm, uint64_t number);

 private:
  static uint64_t key(size_t comm, uint64_t number) { return uint64_t(comm) << 40 | number; }

  std::vector<Members> members_;
  std::unordered_map<int, size_t> by_id_;
  std::unordered_map<uint64_t, Meeting> meetings_;
};

}  // namespace haichi::predict
