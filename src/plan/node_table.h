// The table in which the ranks of a node tell each other numbers (Step::node_tell, node_sum): in
// memory that they share, or for all of them in one process.
//
// PURE: no MPI, no clock, no environment, no file. Nobody writes a cell while another reads it: a
// schedule has a meeting of the node between (Step::node_meet).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/schedule.h"

namespace haichi::plan {

/// In memory of the caller: for each cell a number of each rank of the node. Numbers fit into 31
/// bits.
class NodeTable {
 public:
  static int64_t bytes_of(int64_t cells, int64_t ranks) {
    return cells * ranks * int64_t(sizeof(int32_t));
  }
  /// `ranks`: of the node.
  NodeTable(int32_t* numbers, int64_t ranks) : numbers_(numbers), ranks_(ranks) {}

  /// `local`: the rank's place on its node.
  void tell(int64_t cell, int local, int64_t number) {
    numbers_[cell * ranks_ + local] = int32_t(number);
  }
  NodeSum sum(int64_t cell, int local) const {
    const int32_t* const numbers = numbers_ + cell * ranks_;
    NodeSum sum;
    for (int64_t i = 0; i < ranks_; ++i) {
      if (i == local) sum.before = sum.all;
      sum.all += numbers[i];
    }
    return sum;
  }

 private:
  int32_t* const numbers_;
  const int64_t ranks_;
};

/// With memory of its own, as much as is told.
class OwnNodeTable {
 public:
  explicit OwnNodeTable(int64_t ranks) : ranks_(ranks) {}

  void tell(int64_t cell, int local, int64_t number) {
    grow(cell);
    NodeTable(numbers_.data(), ranks_).tell(cell, local, number);
  }
  NodeSum sum(int64_t cell, int local) {
    grow(cell);
    return NodeTable(numbers_.data(), ranks_).sum(cell, local);
  }

 private:
  void grow(int64_t cell) {
    const auto needed = size_t((cell + 1) * ranks_);
    if (numbers_.size() < needed) numbers_.resize(needed);
  }

  int64_t ranks_;
  std::vector<int32_t> numbers_;
};

}  // namespace haichi::plan
