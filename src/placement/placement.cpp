#include "placement/placement.h"

#include <unordered_map>

namespace haichi::placement {

Placement::Placement(std::span<const int> node_of_rank, std::vector<std::string> names)
    : names_(std::move(names)) {
  std::unordered_map<int, int> renumbered;
  node_.reserve(node_of_rank.size());
  local_.reserve(node_of_rank.size());
  std::vector<int> count;
  for (const int given : node_of_rank) {
    const auto [entry, first] = renumbered.try_emplace(given, int(count.size()));
    if (first) count.push_back(0);
    node_.push_back(entry->second);
    local_.push_back(count[size_t(entry->second)]++);
  }
  for (const int c : count) begin_.push_back(begin_.back() + c);
  member_.resize(node_.size());
  for (size_t rank = 0; rank < node_.size(); ++rank)
    member_[size_t(begin_[size_t(node_[rank])] + local_[rank])] = int(rank);
}

std::span<const int> Placement::ranks_on(int node) const {
  const auto first = size_t(begin_[size_t(node)]), last = size_t(begin_[size_t(node) + 1]);
  return std::span(member_).subspan(first, last - first);
}

std::string Placement::node_name(int node) const {
  if (size_t(node) < names_.size()) return names_[size_t(node)];
  return fmt::format("node{}", node);
}

Placement Placement::subset(std::span<const int> ranks) const {
  std::vector<int> nodes;
  nodes.reserve(ranks.size());
  for (const int rank : ranks) nodes.push_back(node_of(rank));
  std::vector<std::string> names, addresses;
  std::vector<bool> seen(size_t(this->nodes()));
  if (!names_.empty() || !addresses_.empty())
    for (const int node : nodes)
      if (!seen[size_t(node)]) {
        seen[size_t(node)] = true;
        if (!names_.empty()) names.push_back(node_name(node));
        if (!addresses_.empty()) addresses.push_back(node_address(node));
      }
  Placement part(nodes, std::move(names));
  part.set_node_addresses(std::move(addresses));
  if (!places_.empty()) {
    std::vector<RankPlace> places;
    for (const int rank : ranks) places.push_back(places_[size_t(rank)]);
    part.set_places(std::move(places));
  }
  return part;
}

Placement block(int nodes, int per_node) {
  std::vector<int> node_of_rank;
  node_of_rank.reserve(size_t(nodes) * size_t(per_node));
  for (int rank = 0; rank < nodes * per_node; ++rank) node_of_rank.push_back(rank / per_node);
  return Placement(node_of_rank);
}

Placement round_robin(int nodes, int per_node) {
  std::vector<int> node_of_rank;
  node_of_rank.reserve(size_t(nodes) * size_t(per_node));
  for (int rank = 0; rank < nodes * per_node; ++rank) node_of_rank.push_back(rank % nodes);
  return Placement(node_of_rank);
}

}  // namespace haichi::placement
