// Who tells whom at the end of a job: a binomial tree over the ranks in order of their nodes, so
// that most of its edges stay on a node.
#pragma once

#include <vector>

namespace haichi::report {

/// Of the rank at `position` among `size`: the position that it tells; -1 for the first.
inline int above(int position) { return position == 0 ? -1 : position & (position - 1); }

/// The positions that tell it, in order.
inline std::vector<int> below(int position, int size) {
  std::vector<int> all;
  for (int step = 1; position + step < size && (position & step) == 0; step *= 2)
    all.push_back(position + step);
  return all;
}

}  // namespace haichi::report
