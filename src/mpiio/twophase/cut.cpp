#include "mpiio/twophase/cut.h"

#include <algorithm>

#include "base/rounding.h"

namespace haichi::mpiio {
namespace {

// A range is cut in its parts if they are at most this fraction of it.
constexpr int64_t kSparse = 4;

// A window is not made smaller than this only to have more cycles that overlap.
constexpr int64_t kLeastWindow = 128 << 10;

}  // namespace

int64_t hole_in(Direction direction, int64_t window) {
  return std::min(window, hole_of(direction));
}

int64_t most_in_parts(int64_t range) { return range / kSparse; }

// With a third window the ranks of a node need not keep step, see "Overlapping cycles" in
// docs/notes.md; a thread of its own for the file does the same for two.
int windows_of_buffer(const placement::Placement& placement, const TwoPhaseOptions& options) {
  const bool common = placement.nodes() == 1 && options.may_share;
  return common && options.file_thread != Choice::on ? 3 : 2;
}

// In whole pages where it has several: a page that two windows share is written twice.
int64_t window_of_buffer(const placement::Placement& placement, const TwoPhaseOptions& options) {
  const int64_t part = options.buffer / windows_of_buffer(placement, options);
  return part > kPage ? part / kPage * kPage : std::max<int64_t>(1, part);
}

int64_t window_size(const placement::Placement& placement, const plan::Extent& range,
                    int aggregators, const TwoPhaseOptions& options) {
  const int64_t most = window_of_buffer(placement, options);
  const int64_t domain = divide_up(range.size(), aggregators) + 1 + options.stripe_unit;
  // However large a buffer is asked for, what the access does not fill is not taken.
  if (!options.may_shrink) return std::min(most, whole_pages(domain));
  const int64_t wanted = std::max(kLeastWindow, domain / kOverlappingCycles);
  return std::min(most, whole_pages(wanted));
}

plan::FileDomains even_domains(const plan::Extent& range, int aggregators, int64_t window,
                               const TwoPhaseOptions& options) {
  return {range, aggregators, window, options.stripe_unit, options.stripe_unit};
}

Cut cut_of_range(const placement::Placement& placement, const TwoPhaseOptions& options,
                 int aggregators, const plan::Extent& range) {
  const int64_t window = window_size(placement, range, aggregators, options);
  return {.bytes = std::max<int64_t>(0, range.size()),
          .cycles = even_domains(range, aggregators, window, options).cycles()};
}

// A stripe's parts are cycles of their own, as those of another aggregator lie between them.
Cut cut_of(const placement::Placement& placement, const TwoPhaseOptions& options, int aggregators,
           const Demand& demand) {
  const Cut whole = cut_of_range(placement, options, aggregators, demand.hull);
  const int64_t bytes = demand.occupied_together(), parts = demand.parts_together();
  if (!options.knows_parts || parts == 0 || parts > kMostParts || whole.cycles < 2 ||
      bytes > most_in_parts(demand.hull.size()))
    return whole;
  Cut cut = cut_of_range(placement, options, aggregators, {0, bytes});
  cut.in_parts = true;
  cut.parts = parts;
  if (options.stripe_unit > 0)
    cut.cycles = std::min(whole.cycles, std::max(cut.cycles, parts / aggregators));
  return cut;
}

}  // namespace haichi::mpiio
