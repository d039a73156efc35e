#include "measure/classes.h"

#include <algorithm>
#include <optional>

#include "placement/nearness.h"

namespace haichi::measure {
namespace {

constexpr const char* kNames[] = {"core", "numa", "node", "network"};
enum Distance { kCore, kNuma, kNode, kNetwork, kDistances };

class Distances {
 public:
  Distances(const placement::Placement& placement, const std::vector<int>& host_cores)
      : placement_(placement), host_cores_(host_cores) {}

  Distance between(int a, int b) const {
    if (!placement_.same_node(a, b)) return kNetwork;
    const auto* one = bound(a);
    const auto* other = bound(b);
    if (one == nullptr || other == nullptr) return kNode;
    return Distance(placement::nearness(*one, *other));
  }

 private:
  // Where the rank is bound to; null if it is not, or if that is not known.
  const placement::RankPlace* bound(int rank) const {
    if (placement_.places().empty() || host_cores_.empty()) return nullptr;
    const placement::RankPlace& place = placement_.places()[size_t(rank)];
    const bool is_bound = place.cores > 0 && place.cores < host_cores_[size_t(rank)];
    return is_bound ? &place : nullptr;
  }

  const placement::Placement& placement_;
  const std::vector<int>& host_cores_;
};

}  // namespace

std::vector<Pair> pairs_by_class(const placement::Placement& placement,
                                 const std::vector<int>& host_cores) {
  const Distances distances(placement, host_cores);
  std::optional<Pair> found[kDistances];
  int left = kDistances - 1;
  // Within each node all pairs, until every class is found: of two nodes any pair will do.
  for (int node = 0; node < placement.nodes() && left > 0; ++node) {
    const auto local = placement.ranks_on(node);
    for (const int a : local)
      for (const int b : local) {
        const Distance distance = a < b ? distances.between(a, b) : kDistances;
        if (distance == kDistances || found[distance]) continue;
        found[distance] = Pair{kNames[distance], a, b};
        --left;
      }
  }
  if (placement.nodes() > 1)
    found[kNetwork] =
        Pair{kNames[kNetwork], placement.ranks_on(0).front(), placement.ranks_on(1).front()};
  std::vector<Pair> pairs;
  for (const auto& pair : found)
    if (pair) pairs.push_back(*pair);
  return pairs;
}

}  // namespace haichi::measure
