// Placement classes: how near two ranks are to each other, and which pair of a job stands for each.
#pragma once

#include <string>
#include <vector>

#include "placement/placement.h"

namespace haichi::measure {

/// Two ranks of the job that stand for a placement class:
///
/// core     both bound to the same one core
/// numa     bound to cores of one NUMA node
/// node     on one node, further apart or not known to be nearer
/// network  on two nodes
struct Pair {
  std::string name;
  int first, second;
};

/// One pair for each class that the job has, nearest first: the one with the smallest ranks.
/// `host_cores[r]` is how many cores the host of rank r has; a rank that may run on all of them is
/// not bound, so what is near to it is not known. Empty for a single rank.
std::vector<Pair> pairs_by_class(const placement::Placement& placement,
                                 const std::vector<int>& host_cores);

}  // namespace haichi::measure
