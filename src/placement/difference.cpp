#include "placement/difference.h"

#include <vector>

#include "placement/formats.h"

namespace haichi::placement {
namespace {

// Most parts of a node that are listed.
constexpr size_t kMostParts = 4;

// The ranks of `node` of `whole`, grouped by the nodes of `other`, with those nodes' numbers.
struct Part {
  int node;
  std::vector<int> ranks;
};

std::vector<Part> parts_of(const Placement& whole, int node, const Placement& other) {
  std::vector<Part> parts;
  for (const int rank : whole.ranks_on(node)) {
    const int there = other.node_of(rank);
    size_t i = 0;
    // Few parts in practice; and the first kMostParts + 1 are enough to tell.
    while (i < parts.size() && parts[i].node != there) ++i;
    if (i == parts.size()) {
      if (i > kMostParts) continue;
      parts.push_back({there, {}});
    }
    parts[i].ranks.push_back(rank);
  }
  return parts;
}

// Whether all ranks of a node of `whole` are on one node of `other`.
bool together(const Placement& whole, int node, const Placement& other) {
  const auto ranks = whole.ranks_on(node);
  for (const int rank : ranks)
    if (!other.same_node(rank, ranks.front())) return false;
  return true;
}

// How many nodes of `whole` are not on one node of `other`, and the first of them.
struct Torn {
  int count = 0;
  int first = -1;
};

Torn torn(const Placement& whole, const Placement& other) {
  Torn found;
  for (int node = 0; node < whole.nodes(); ++node) {
    if (together(whole, node, other)) continue;
    if (found.count++ == 0) found.first = node;
  }
  return found;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size() && i < kMostParts; ++i)
    text += (i == 0 ? "" : " | ") + words[i];
  return words.size() > kMostParts ? text + " | ..." : text;
}

std::string others(int count) {
  if (count == 1) return "";
  return fmt::format(" (and so {} more node{})", count - 1, count == 2 ? "" : "s");
}

}  // namespace

std::string difference(const Placement& ours, const Placement& theirs,
                       std::string_view their_name) {
  const Torn split = torn(ours, theirs), mixed = torn(theirs, ours);
  if (split.count == 0 && mixed.count == 0) return "";
  std::string text = fmt::format("{} counts {} node{}, haichi {}", their_name, theirs.nodes(),
                                 theirs.nodes() == 1 ? "" : "s", ours.nodes());
  std::vector<std::string> words;
  if (split.count > 0) {
    for (const Part& part : parts_of(ours, split.first, theirs))
      words.push_back(to_rank_list(part.ranks));
    text += fmt::format(
        "; it splits node {}, ranks {}, into {}{}, as it does under a hostfile that names a host "
        "twice: name each host once, with its number of ranks",
        ours.node_name(split.first), to_rank_list(ours.ranks_on(split.first)), joined(words),
        others(split.count));
  }
  if (mixed.count > 0) {
    words.clear();
    for (const Part& part : parts_of(theirs, mixed.first, ours))
      words.push_back(fmt::format("{} of {}", to_rank_list(part.ranks), ours.node_name(part.node)));
    text += fmt::format("; it joins ranks {}{}, as it does where one machine plays several nodes",
                        joined(words), others(mixed.count));
  }
  return text;
}

}  // namespace haichi::placement
