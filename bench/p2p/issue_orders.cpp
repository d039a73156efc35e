// Prints an issue order (src/plan/issue_order.h) for every rank of a placement, one rank a line, as
// bench/p2p/alltoall takes it. Usage:
//
//   issue-orders rank|pairwise|nd_shift|nd_rank_shift NODE[,NODE...]     the node of each rank
//
// Exit code 2 and one line on standard error for a bad argument.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/issue_order.h"

namespace {

std::optional<std::vector<int>> nodes_from(std::string_view text) {
  std::vector<int> nodes;
  for (const char *at = text.data(), *end = at + text.size(); at <= end; ++at) {
    int node = 0;
    const auto [next, error] = std::from_chars(at, end, node);
    if (error != std::errc() || node < 0 || (next != end && *next != ',')) return std::nullopt;
    nodes.push_back(node);
    at = next;
  }
  return nodes;
}

}  // namespace

int main(int argc, char** argv) {
  const auto order = argc == 3 ? haichi::plan::issue_order_from(argv[1]) : std::nullopt;
  const auto nodes = argc == 3 ? nodes_from(argv[2]) : std::nullopt;
  if (!order || !nodes) {
    std::fputs("usage: issue-orders rank|pairwise|nd_shift|nd_rank_shift NODE[,NODE...]\n", stderr);
    return 2;
  }
  const haichi::placement::Placement placement(*nodes);
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    const haichi::plan::PeerOrder peers(placement, *order, rank);
    for (int k = 0; k < peers.size(); ++k) std::printf(k ? " %d" : "%d", peers.peer(k));
    std::putchar('\n');
  }
  return 0;
}
