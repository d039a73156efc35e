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

/// "4x3x2".
std::string text(const std::vector<int>& extents);

/// The places of a box of a job in a larger one, from a corner on, round the larger one's ends
/// where it goes beyond them.
std::vector<int> box_in(const std::vector<int>& machine, const std::vector<int>& job,
                        const std::vector<int>& corner);

}  // namespace haichi::study
