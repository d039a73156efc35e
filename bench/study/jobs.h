// The jobs of the pruning study: which nodes of which network, and the ranks on them.
#pragma once

#include <string>
#include <vector>

#include "placement/placement.h"

namespace haichi::study {

struct Job {
  std::string kind;     ///< what is special about it: "paper 004", "compact", "line", ...
  std::string name;     ///< "4x3x2"
  std::string network;  ///< as machine::Machine has it
  std::vector<int> seats;
  placement::Placement placement;
};

/// All of them, in a fixed order. Up to 384 nodes. Paper 004 could have predicted the kinds "paper
/// 004", "compact", "stretched" and "line", with one rank a node; not the others.
std::vector<Job> jobs();

}  // namespace haichi::study
