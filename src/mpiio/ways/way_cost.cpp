#include "mpiio/ways/way_cost.h"

#include <algorithm>
#include <cmath>

#include "mpiio/twophase/domains_by_bytes.h"
#include "mpiio/ways/access_cost.h"

namespace haichi::mpiio {
namespace {

constexpr double kNanosecond = 1e-9;
// Times that of two phases: the libraries' own collective accesses where the pieces interleave, on
// one node and on several (README.md, "Figures").
constexpr double kRomioOnNode = 5, kRomioOnNodes = 2;
constexpr double kOmpioOnNode = 5, kOmpioOnNodes = 50;
// The same, times that of each rank alone, where the ranks' parts lie apart.
constexpr double kRomioApart = 1.1, kOmpioApartOnNode = 3, kOmpioApartOnNodes = 50;
// An exchange makes ranks wait for one another, who would not: it has to gain as much.
constexpr double kWorthWaiting = 2;

/// A node may have so much more than the others that its share of the file is limited.
bool may_be_uneven(const placement::Placement& placement, const TwoPhaseOptions& options,
                   const Demand& demand) {
  if (!may_go_by_bytes(placement, options)) return false;
  size_t largest = 0;
  for (int node = 0; node < placement.nodes(); ++node)
    largest = std::max(largest, placement.ranks_on(node).size());
  const double most = double(demand.most) * double(largest);
  return most * placement.nodes() > plan::kUsualShare * double(demand.bytes);
}

bool exchange_may_pay(const std::vector<WayCost>& costs) {
  double alone = 0, two_phase = HUGE_VAL;
  for (const WayCost& each : costs) {
    if (each.way == Way::alone) alone = each.seconds;
    if (each.way == Way::two_phase) two_phase = each.seconds;
  }
  return kWorthWaiting * two_phase < alone;
}

double library_ns(const LibraryFileIo& library, bool one_node, bool apart, double alone,
                  double two_phase) {
  if (library.splits_alone) return alone;
  if (apart) {
    if (library.alone_if_apart) return kRomioApart * alone;
    return alone * (one_node ? kOmpioApartOnNode : kOmpioApartOnNodes);
  }
  if (library.alone_if_apart) return two_phase * (one_node ? kRomioOnNode : kRomioOnNodes);
  return two_phase * (one_node ? kOmpioOnNode : kOmpioOnNodes);
}

}  // namespace

bool may_be_corrected(const WayChoice& choice, const CostsOfWays& costs) {
  switch (choice.reason) {
    case WayReason::apart:
    case WayReason::pieces:
    case WayReason::few:
    case WayReason::read_alone:
    case WayReason::interleave:
    case WayReason::far_apart:
      return true;
    case WayReason::split:
      return exchange_may_pay(costs());
    case WayReason::nothing:
    case WayReason::asked:
    case WayReason::little:
    case WayReason::measured:
      return false;
  }
  return false;
}

std::vector<WayCost> way_costs(const placement::Placement& placement,
                               const TwoPhaseOptions& options, Direction direction,
                               const Demand& demand, const LibraryFileIo& library,
                               const WayChoice& choice, bool may_be_library) {
  const bool one_node = placement.nodes() == 1;
  const bool apart = demand.apart();
  const double alone = alone_ns(placement, direction, demand);
  const double two_phase = two_phase_ns(placement, options, direction, demand);
  std::vector<WayCost> costs;
  if (demand.all_open) costs.push_back({Way::alone, alone * kNanosecond});
  costs.push_back({Way::two_phase, two_phase * kNanosecond});
  if (may_be_uneven(placement, options, demand))
    costs.push_back({Way::balanced, two_phase * kNanosecond});
  // Where the library leaves a split access to each rank, `alone` is the same without its threads,
  // and does not hang where Open MPI 4.1 does: many pieces, the end of the file.
  if (may_be_library && !(library.splits_alone && demand.all_open))
    costs.push_back(
        {Way::library, library_ns(library, one_node, apart, alone, two_phase) * kNanosecond});
  std::stable_partition(costs.begin(), costs.end(),
                        [&](const WayCost& each) { return each.way == choice.way; });
  return costs;
}

}  // namespace haichi::mpiio
