#include "mpi/access/access_summary.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "mpi/access/agreement.h"
#include "mpi/log/summary_entries.h"
#include "mpiio/regions/spread.h"
#include "mpiio/storage/sieve.h"
#include "mpiio/twophase/cut.h"

namespace haichi::mpi {
namespace {

using namespace summary;

/// Of all hints that decide what the ranks do together. Not negative.
int64_t fingerprint_of_hints(const FileState& state) {
  const uint64_t more =
      uint64_t(state.options.holes()) * 2 + uint64_t(state.options.may_be_library());
  return int64_t((fingerprint(state.options.two_phase()) ^ (more * 0x9e3779b97f4a7c15u)) >> 1);
}

void enter(Entries& own, FileState& state, const Request& request, mpiio::Direction direction) {
  const mpiio::Access& access = request.access;
  const plan::Extent hull = access.hull();
  const int64_t size = access.end() - access.begin();
  own[can] = request.refusal.empty();
  own[all_open] = access.empty() || state.has_descriptor();
  own[nothing_under_way] = !state.library_writes;
  own[hints] = fingerprint_of_hints(state);
  own[minus_hints] = -own[hints];
  own[hull_begin] = access.empty() ? INT64_MAX : hull.begin;
  own[minus_hull_end] = access.empty() ? 0 : -hull.end;
  own[minus_most] = -size;
  own[minus_slot] = state.slot > 0 && !Presence::some_unknown() ? -state.slot : 0;
  own[off] = state.options.switched_off();
  const Striping striping = state.rank == 0 ? state.striping().value_or(Striping{}) : Striping{};
  own[minus_stripe] = -striping.unit;
  own[minus_stripes] = -striping.count;
  own[minus_last] = -state.group->ways.last_ns();
  own[period] = state.group->pace.period_ns();
  own[least] = state.group->pace.least_ns();
  own[spans] = hull.size();
  own[bytes] = size;
  own[blocks] = access.empty() ? 0 : access.blocks();
  const mpiio::Spread spread = mpiio::spread_of(access, mpiio::hole_of(direction));
  own[parts] = spread.parts;
  own[occupied] = spread.bytes;
  own[ranks] = !access.empty();
  own[fillers] = direction == mpiio::Direction::write && mpiio::worth_filling(access);
}

/// Of all ranks' entries. False if the MPI library fails.
bool reduced(FileGroup& group, const Entries& own, Entries& all, Waiting waiting) {
  NodeBoard* const board = group.board(waiting);
  if (!board) return summary::reduce(own, all, group.comm);
  static_assert(sizeof own <= NodeBoard::kMostBytes);
  std::vector<int64_t> each(size_t(group.placement.ranks()) * entries);
  board->allgather(own, sizeof own, each.data());
  memcpy(all, each.data(), sizeof all);
  for (size_t r = 1; r < size_t(group.placement.ranks()); ++r)
    add(reinterpret_cast<const Entries&>(each[r * entries]), all);
  return true;
}

}  // namespace

Result<AccessSummary> summarize(FileState& state, const Request& request,
                                mpiio::Direction direction) {
  Entries own, all;
  enter(own, state, request, direction);
  const int64_t begin_ns = now_ns();
  if (!reduced(*state.group, own, all, state.waiting()))
    return fail(EIO, "the ranks of {} cannot agree", state.path);
  state.group->pace.agreed(begin_ns, now_ns());
  AccessSummary summary;
  summary.can = all[can] != 0;
  summary.same_hints = all[hints] == -all[minus_hints];
  summary.hints = all[hints];
  summary.library_writes = all[nothing_under_way] == 0;
  summary.slot = all[minus_slot] == 0 ? -1 : -all[minus_slot];
  summary.all_off = all[off] != 0;
  summary.striping = {-all[minus_stripe], -all[minus_stripes]};
  summary.last_ns = -all[minus_last];
  state.group->agreement_ns = all[least];
  summary.longest_doze = mpiio::AgreementPace::longest(all[period], all[least]);
  if (all[ranks] > 0) summary.demand.hull = {all[hull_begin], -all[minus_hull_end]};
  summary.some_fill = all[fillers] > 0;
  summary.demand.spans = all[spans];
  summary.demand.bytes = all[bytes];
  summary.demand.most = -all[minus_most];
  summary.demand.blocks = all[blocks];
  summary.demand.hole = mpiio::hole_of(direction);
  summary.demand.parts = all[parts];
  summary.demand.occupied = all[occupied];
  summary.demand.ranks = int(std::min<int64_t>(all[ranks], INT32_MAX));
  summary.demand.all_open = all[all_open] != 0;
  return summary;
}

}  // namespace haichi::mpi
