#include "mpi/access_summary.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/agreement.h"
#include "mpi/compat/handles.h"
#include "mpiio/sieve.h"

namespace haichi::mpi {
namespace {

// The least of all ranks' is taken of the first, the sum of the others.
enum Entry {
  can,
  all_open,
  nothing_under_way,
  hints,
  minus_hints,
  hull_begin,
  minus_hull_end,
  minus_most,
  minus_slot,
  off,
  minus_stripe,
  minus_stripes,
  minus_last,
  period,
  least,
  first_sum,
  spans = first_sum,
  bytes,
  blocks,
  sieved,
  ranks,
  fillers,
  entries
};

using Entries = int64_t[entries];

void add(const Entries& from, Entries& to) {
  for (int e = 0; e < first_sum; ++e) to[e] = std::min(to[e], from[e]);
  for (int e = first_sum; e < entries; ++e)
    if (__builtin_add_overflow(to[e], from[e], &to[e])) to[e] = INT64_MAX;
}

void combine(void* more, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Entries*>(more);
  auto* to = static_cast<Entries*>(into);
  for (int i = 0; i < *count; ++i) add(from[i], to[i]);
}

/// One element of the type is all entries, so that no MPI library cuts them apart.
struct Operation {
  MPI_Op op;
  MPI_Datatype type;
  bool made = false;
};

std::mutex& operation_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

Operation& kept_operation() {
  static Operation* const operation = new Operation;
  return *operation;
}

/// Of all hints that decide what the ranks do together. Not negative.
int64_t fingerprint_of_hints(const FileState& state) {
  const uint64_t more = uint64_t(state.holes()) * 2 + uint64_t(state.may_be_library());
  return int64_t((fingerprint(state.options()) ^ (more * 0x9e3779b97f4a7c15u)) >> 1);
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
  own[off] = state.switched_off();
  const Striping striping = state.rank == 0 ? state.striping().value_or(Striping{}) : Striping{};
  own[minus_stripe] = -striping.unit;
  own[minus_stripes] = -striping.count;
  own[minus_last] = -state.group->ways.last_ns();
  own[period] = state.group->pace.period_ns();
  own[least] = state.group->pace.least_ns();
  own[spans] = hull.size();
  own[bytes] = size;
  own[blocks] = access.empty() ? 0 : access.blocks();
  own[sieved] = mpiio::sieved_bytes(access);
  own[ranks] = !access.empty();
  own[fillers] = direction == mpiio::Direction::write && mpiio::worth_filling(access);
}

/// Of all ranks' entries. False if the MPI library fails.
bool reduced(FileGroup& group, const Entries& own, Entries& all, Waiting waiting) {
  NodeBoard* const board = group.board(waiting);
  if (!board) {
    const Operation& reduce = kept_operation();  // made when the file was opened
    return real().Allreduce(own, all, 1, reduce.type, reduce.op, group.comm) == MPI_SUCCESS;
  }
  static_assert(sizeof own <= NodeBoard::kMostBytes);
  std::vector<int64_t> each(size_t(group.placement.ranks()) * entries);
  board->allgather(own, sizeof own, each.data());
  memcpy(all, each.data(), sizeof all);
  for (size_t r = 1; r < size_t(group.placement.ranks()); ++r)
    add(reinterpret_cast<const Entries&>(each[r * entries]), all);
  return true;
}

}  // namespace

bool can_summarize() {
  const std::lock_guard guard(operation_mutex());
  Operation& kept = kept_operation();
  if (kept.made) return true;
  if (real().Op_create(combine, 1, &kept.op) != MPI_SUCCESS) return false;
  kept.made = real().Type_contiguous(entries, handles().int64, &kept.type) == MPI_SUCCESS &&
              real().Type_commit(&kept.type) == MPI_SUCCESS;
  return kept.made;
}

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
  summary.demand.sieved = all[sieved];
  summary.demand.ranks = int(std::min<int64_t>(all[ranks], INT32_MAX));
  summary.demand.all_open = all[all_open] != 0;
  return summary;
}

void forget_summary_operation() {
  const std::lock_guard guard(operation_mutex());
  Operation& kept = kept_operation();
  if (!kept.made) return;
  real().Op_free(&kept.op);
  real().Type_free(&kept.type);
  kept.made = false;
}

}  // namespace haichi::mpi
