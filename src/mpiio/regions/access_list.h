// The accesses of other ranks, as far as an aggregator knows them: of few of many ranks.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mpiio/regions/access.h"

namespace haichi::mpiio {

class AccessList {
 public:
  AccessList() = default;
  /// Element r is rank r's. Explicit: who holds on to a list needs one that stays.
  explicit AccessList(std::vector<Access> of_all_ranks) : accesses_(std::move(of_all_ranks)) {
    for (size_t r = 0; r < accesses_.size(); ++r) ranks_.push_back(int(r));
  }
  /// Room for so many, so that no more is taken.
  void reserve(size_t ranks) {
    ranks_.reserve(ranks);
    accesses_.reserve(ranks);
  }
  /// Ranks must ascend.
  void add(int rank, Access access) {
    ranks_.push_back(rank);
    accesses_.push_back(std::move(access));
  }
  /// An empty one if the rank is not there. Constant time where all ranks are.
  const Access& operator[](int rank) const {
    const size_t at = size_t(rank);
    if (at < ranks_.size() && ranks_[at] == rank) return accesses_[at];
    const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (found == ranks_.end() || *found != rank) return none_;
    return accesses_[size_t(found - ranks_.begin())];
  }
  std::span<const int> ranks() const { return ranks_; }
  /// Of each of ranks().
  std::span<const Access> accesses() const { return accesses_; }
  std::span<Access> accesses() { return accesses_; }

 private:
  std::vector<int> ranks_;
  std::vector<Access> accesses_;
  Access none_;
};

}  // namespace haichi::mpiio
