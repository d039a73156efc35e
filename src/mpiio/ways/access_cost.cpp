#include "mpiio/ways/access_cost.h"

#include <algorithm>

#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/cut.h"
#include "mpiio/twophase/two_phase.h"
#include "mpiio/ways/read_cost.h"

namespace haichi::mpiio {
namespace {

// Of a node's own memory, as in read_cost.h: a system call that writes takes the file's lock and
// looks for its pages.
constexpr double kWriteCall = 1'500;
constexpr double kWriteByte = 0.3;
// Several nodes: what a request takes to a server and back, and a byte on a node's link. A cycle is
// a message to an aggregator and a request of it.
constexpr double kRequest = 100'000;
constexpr double kLinkByte = 1;
constexpr double kCycle = 200'000;
// What a rank takes to find a part of the range and to deal it out.
constexpr double kPart = 300;

/// How often aggregators ask for a part of the file: once for each window, or for each part, or for
/// each piece where holes are not filled.
double requests_of(const Cut& cut, int aggregators, Direction direction, const Demand& demand) {
  const bool one_by_one = direction == Direction::write &&
                          !wants_rmw(demand.blocks, cut.bytes, demand.bytes, Holes::automatic);
  const double pieces =
      one_by_one ? double(demand.blocks) / (demand.alike() ? demand.ranks : 1) : 0;
  return std::max({double(cut.cycles) * aggregators, double(cut.parts), pieces});
}

}  // namespace

double alone_ns(const placement::Placement& placement, Direction direction, const Demand& demand) {
  if (placement.nodes() > 1) {
    const double pieces = double(demand.blocks) / demand.ranks;
    return pieces * kRequest + double(demand.most) * kLinkByte;
  }
  if (direction == Direction::read)
    return cost_alone({demand.bytes, demand.blocks, demand.occupied});
  return double(demand.blocks) * kWriteCall + double(demand.bytes) * kWriteByte;
}

double two_phase_ns(const placement::Placement& placement, const TwoPhaseOptions& options,
                    Direction direction, const Demand& demand) {
  const int aggregators = aggregators_of(placement, options);
  const Cut cut = cut_of(placement, options, aggregators, demand);
  const double cycles = double(cut.cycles);
  const double requests = requests_of(cut, aggregators, direction, demand);
  const double plan = cut.in_parts ? double(cut.parts) * kPart : 0;
  if (placement.nodes() > 1)
    return cycles * kCycle + std::max(0.0, requests / aggregators - cycles) * kRequest +
           2 * kLinkByte * double(demand.bytes) / placement.nodes() + plan;
  return cost_of_exchange({demand.bytes, demand.blocks, demand.occupied}) +
         kExchange * (demand.ranks - 1) + cycles * kExchange / 4 +
         requests * (direction == Direction::read ? kReadCall : kWriteCall) +
         plan * placement.ranks();
}

}  // namespace haichi::mpiio
