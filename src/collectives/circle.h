// The ranks of an all-gather in a ring in which those of a node stand side by side.
//
// PURE.
#pragma once

#include "collectives/exchange.h"

namespace haichi::collectives {

/// The ring as x.me sees it. Points to `x`, which must outlive it.
class Circle {
 public:
  explicit Circle(const Exchange& x)
      : x_(&x),
        mine_(x.placement->first_index(x.placement->node_of(x.me)) +
              x.placement->local_index(x.me)) {}

  /// The rank that is `distance` after this one; distance may be negative, down to -ranks().
  int at(int distance) const {
    const int ranks = x_->ranks();
    return x_->placement->by_node()[size_t((mine_ + distance + ranks) % ranks)];
  }
  /// Bytes of the blocks of so many ranks, from the one at `distance` on.
  int64_t bytes(int distance, int64_t count) const {
    if (x_->regular()) return count * x_->block;
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += x_->bytes_from(at(distance + i));
    return sum;
  }

 private:
  const Exchange* x_;
  int mine_;  // index in the table
};

}  // namespace haichi::collectives
