#include "mpiio/ways/way.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpiio/twophase/cut.h"
#include "mpiio/ways/access_cost.h"
#include "mpiio/ways/read_cost.h"

namespace haichi::mpiio {
namespace {

// From this mean size of a rank's pieces on, a system call for each write costs less than moving
// them: it takes the file's lock and looks for its pages.
constexpr int64_t kDirectWrite = 16 << 10;
// The same where the file system is behind a network, and a request costs a round trip to a server.
constexpr int64_t kDirectPieceApart = 1 << 20;
// So few writes of a node's ranks, for each rank beside the first, take less than the meetings of
// an exchange; but not more of them than kFewAtMost.
constexpr int64_t kFewWrites = 16, kFewAtMost = 64;
// Where two ranks go alone, a system call for each of so many written pieces of both takes less
// than agreeing about them.
constexpr int64_t kPairWrites = 16;
// What a rank has is so little that agreeing about it costs as much as accessing it.
constexpr int64_t kLittle = 16 << 10;

/// Whether the range is mostly holes, and the ranks do better alone: what an exchange takes, or its
/// cycles with nothing in them, costs more than it spares requests.
bool far_apart(const placement::Placement& placement, const TwoPhaseOptions& options,
               Direction direction, const Demand& demand) {
  return demand.occupied_together() <= most_in_parts(demand.hull.size()) &&
         alone_ns(placement, direction, demand) <=
             two_phase_ns(placement, options, direction, demand);
}

bool has_empty_cycles(const placement::Placement& placement, const TwoPhaseOptions& options,
                      const Demand& demand) {
  const Cut cut = cut_of(placement, options, aggregators_of(placement, options), demand);
  return !cut.in_parts && cut.cycles > kOverlappingCycles;
}

bool reads_alone(const Demand& demand) {
  const ReadSize all{demand.bytes, demand.blocks, demand.occupied};
  return cost_alone(all) <= cost_of_exchange(all) + kExchange * (demand.ranks - 1);
}

bool large_pieces(const placement::Placement& placement, const Demand& demand) {
  const int64_t least = placement.nodes() > 1 ? kDirectPieceApart : kDirectWrite;
  return demand.bytes / demand.blocks >= least;
}

/// Why each rank does better alone, or `interleave`.
WayReason why_alone(const placement::Placement& placement, const TwoPhaseOptions& options,
                    Direction direction, const Demand& demand) {
  if (demand.apart()) return WayReason::apart;
  if (far_apart(placement, options, direction, demand)) return WayReason::far_apart;
  if (placement.nodes() == 1 && direction == Direction::read)
    return reads_alone(demand) ? WayReason::read_alone : WayReason::interleave;
  if (placement.nodes() == 1 &&
      demand.blocks <= std::min(kFewWrites * (placement.ranks() - 1), kFewAtMost))
    return WayReason::few;
  return large_pieces(placement, demand) ? WayReason::pieces : WayReason::interleave;
}

}  // namespace

bool left_as_little(const LibraryFileIo& library, const placement::Placement& placement,
                    int64_t most, int64_t written_pieces) {
  if (most > kLittle) return false;
  const bool pair = placement.nodes() == 1 && placement.ranks() == 2;
  return library.alone_if_apart || (library.pairs_alone && pair && written_pieces <= kPairWrites);
}

WayChoice choose_way(const placement::Placement& placement, const TwoPhaseOptions& options,
                     Direction direction, const Demand& demand, const LibraryFileIo& library,
                     bool may_be_library) {
  if (demand.blocks == 0) return {Way::alone, WayReason::nothing};
  const int64_t written_pieces = direction == Direction::write ? demand.blocks : 0;
  const bool little =
      may_be_library && left_as_little(library, placement, demand.most, written_pieces);
  const bool split = library.splits_alone && may_be_library;
  // Such a library has no aggregators in split accesses, whatever the hints.
  const bool asked =
      !split && (options.aggregators > 0 || options.per_node > 0 || !options.may_go_direct);
  if (asked) {
    // A hint that names aggregators asks for no meetings about nothing.
    if (demand.all_open && has_empty_cycles(placement, options, demand) &&
        far_apart(placement, options, direction, demand))
      return {Way::alone, WayReason::far_apart};
    return {Way::two_phase, WayReason::asked};
  }
  if (little) return {Way::library, WayReason::little};
  if (!demand.all_open)
    return split ? WayChoice{Way::library, WayReason::split}
                 : WayChoice{Way::two_phase, WayReason::interleave};
  const WayReason alone = why_alone(placement, options, direction, demand);
  // On one node ranks exchange through memory, which costs less than a system call for each piece.
  if (split && (alone != WayReason::interleave || placement.nodes() > 1))
    return {Way::alone, WayReason::split};
  return {alone == WayReason::interleave ? Way::two_phase : Way::alone, alone};
}

std::string_view name_of(Way way) {
  switch (way) {
    case Way::library:
      return "library";
    case Way::alone:
      return "alone";
    case Way::balanced:
      return "two phases in balance";
    case Way::two_phase:
      break;
  }
  return "two phases";
}

std::string text_of(const WayChoice& choice, const placement::Placement& placement,
                    const Demand& demand) {
  switch (choice.reason) {
    case WayReason::nothing:
      return "no rank has any bytes";
    case WayReason::asked:
      return "two phases, since aggregators are asked for";
    case WayReason::far_apart:
      return fmt::format("no exchange: {} pieces lie so far apart that each rank does better alone",
                         demand.blocks);
    case WayReason::apart:
      return fmt::format("no exchange: the ranks' parts of bytes {} to {} do not interleave",
                         demand.hull.begin, demand.hull.end);
    case WayReason::little:
      return fmt::format("left to the MPI library: a rank has {} bytes at most", demand.most);
    case WayReason::split:
      return "no exchange: the MPI library, too, leaves a split access to each rank";
    case WayReason::pieces:
      return fmt::format("no exchange: {}their pieces have {} bytes in the mean",
                         placement.nodes() > 1 ? "" : "all ranks are on one node, and ",
                         demand.bytes / demand.blocks);
    case WayReason::few:
      return fmt::format("no exchange: all ranks are on one node, and have {} pieces",
                         demand.blocks);
    case WayReason::read_alone:
      return fmt::format(
          "no exchange: all ranks are on one node, and reading {} pieces alone costs less than "
          "through windows",
          demand.blocks);
    case WayReason::measured:
      return std::string(name_of(choice.way));
    case WayReason::interleave:
      break;
  }
  return "two phases: the ranks' pieces interleave";
}

}  // namespace haichi::mpiio
