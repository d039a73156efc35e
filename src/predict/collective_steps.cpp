#include "predict/collective_steps.h"

#include <algorithm>
#include <bit>

#include "collectives/algorithm.h"
#include "plan/step_generator.h"
#include "plan/steps.h"

namespace haichi::predict {
namespace {

using plan::receive_step;
using plan::send_step;
using plan::Slice;
using plan::StepGenerator;
using plan::wait_step;

// MPICH's limits, as collectives/ and bench/study/stock.cpp have them.
constexpr int64_t kShortReduction = 2048;
constexpr int64_t kShortBlock = 256, kLongBlock = 32768;
constexpr int64_t kLongGather = 524288;

Slice of(int64_t bytes) { return {0, 0, bytes}; }

StepGenerator dissemination(int me, int ranks) {
  for (int distance = 1; distance < ranks; distance *= 2) {
    co_yield receive_step((me + ranks - distance) % ranks, of(0));
    co_yield send_step((me + distance) % ranks, of(0));
    co_yield wait_step();
  }
}

// A tree whose root is rank `root`: a rank's parent has its place, counted from the root, without
// the lowest bit. `grows`: who stands for several ranks moves the bytes of all.
int64_t under(int place, int bit, int ranks, bool grows) {
  return grows ? std::min(bit, ranks - place) : 1;
}

StepGenerator down_the_tree(int me, int root, int ranks, int64_t bytes, bool grows) {
  const int place = (me - root + ranks) % ranks;
  int bit = 1;
  while (bit < ranks && (place & bit) == 0) bit *= 2;
  if (place != 0) {
    co_yield receive_step((place - bit + root) % ranks,
                          of(bytes * under(place, bit, ranks, grows)));
    co_yield wait_step();
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    const int child = place + bit;
    if (child >= ranks) continue;
    co_yield send_step((child + root) % ranks, of(bytes * under(child, bit, ranks, grows)));
  }
  co_yield wait_step();
}

StepGenerator up_the_tree(int me, int root, int ranks, int64_t bytes, bool grows) {
  const int place = (me - root + ranks) % ranks;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if ((place & bit) != 0) {
      co_yield send_step((place - bit + root) % ranks, of(bytes * under(place, bit, ranks, grows)));
      co_yield wait_step();
      co_return;
    }
    const int child = place + bit;
    if (child >= ranks) continue;
    co_yield receive_step((child + root) % ranks, of(bytes * under(child, bit, ranks, grows)));
    co_yield wait_step();
  }
}

// Of ranks beyond the largest power of two each second one of the first hands its part to its
// neighbour and takes the result from it. Returns the place among those that go on, or -1.
struct Folded {
  explicit Folded(int ranks) : power(int(std::bit_floor(unsigned(ranks)))), rest(ranks - power) {}
  int place(int me) const {
    if (me >= 2 * rest) return me - rest;
    return me % 2 == 0 ? -1 : me / 2;
  }
  int rank(int place) const { return place < rest ? 2 * place + 1 : place + rest; }
  int power, rest;
};

StepGenerator all_reduce(int me, int ranks, int64_t bytes, bool halves) {
  const Folded folded(ranks);
  const int place = folded.place(me);
  if (place < 0) {
    co_yield send_step(me + 1, of(bytes));
    co_yield receive_step(me + 1, of(bytes));
    co_yield wait_step();
    co_return;
  }
  const bool has_twin = me < 2 * folded.rest;
  if (has_twin) {
    co_yield receive_step(me - 1, of(bytes));
    co_yield wait_step();
  }
  int64_t part = bytes;
  if (halves)
    for (int bit = folded.power / 2; bit > 0; bit /= 2) {
      part = (part + 1) / 2;
      const int peer = folded.rank(place ^ bit);
      co_yield receive_step(peer, of(part));
      co_yield send_step(peer, of(part));
      co_yield wait_step();
    }
  for (int bit = 1; bit < folded.power; bit *= 2) {
    const int peer = folded.rank(place ^ bit);
    co_yield receive_step(peer, of(part));
    co_yield send_step(peer, of(part));
    co_yield wait_step();
    if (halves) part = std::min(bytes, part * 2);
  }
  if (!has_twin) co_return;
  co_yield send_step(me - 1, of(bytes));
  co_yield wait_step();
}

StepGenerator prefix(int me, int ranks, int64_t bytes) {
  for (int distance = 1; distance < ranks; distance *= 2) {
    if (me >= distance) co_yield receive_step(me - distance, of(bytes));
    if (me + distance < ranks) co_yield send_step(me + distance, of(bytes));
    co_yield wait_step();
  }
}

StepGenerator pairwise(int me, int ranks, int64_t bytes) {
  for (int step = 1; step < ranks; ++step) {
    co_yield receive_step((me + ranks - step) % ranks, of(bytes));
    co_yield send_step((me + step) % ranks, of(bytes));
    co_yield wait_step();
  }
}

std::unique_ptr<plan::Schedule> generated(StepGenerator steps) {
  return std::make_unique<plan::GeneratedSchedule>(std::move(steps));
}

collectives::Kind kind_of(Collective collective) {
  return collective == Collective::allgather ? collectives::Kind::all_gather
                                             : collectives::Kind::all_to_all;
}

collectives::Candidate of_library(const CollectiveCall& call, int ranks) {
  const bool gathers = call.collective == Collective::allgather;
  const int64_t by = call.chosen_by;
  const bool is_short = gathers ? by * ranks < kLongGather : by <= kShortBlock;
  const std::string_view name = is_short && gathers            ? "doubling"
                                : is_short                     ? "bruck"
                                : !gathers && by <= kLongBlock ? "spread(pairwise,0)"
                                                               : "ring";
  return *collectives::parse_candidate(name);
}

std::unique_ptr<plan::Schedule> exchange(const CollectiveCall& call,
                                         const placement::Placement& placement) {
  // Schedules leave out blocks of no bytes, and another rank's may have some.
  const int64_t bytes = std::max<int64_t>(1, call.bytes);
  const collectives::Exchange x{&placement, call.me, bytes, {}, {}, kind_of(call.collective)};
  const bool wanted = goes_as_wanted(call);
  return (wanted ? *call.wanted : of_library(call, placement.ranks())).schedule(x);
}

}  // namespace

bool goes_as_wanted(const CollectiveCall& call) {
  const bool exchanges =
      call.collective == Collective::alltoall || call.collective == Collective::allgather;
  return exchanges && call.wanted != nullptr &&
         call.wanted->refusal(kind_of(call.collective), true).empty();
}

std::unique_ptr<plan::Schedule> schedule_of(const CollectiveCall& call,
                                            const placement::Placement& placement) {
  const int ranks = placement.ranks(), me = call.me, root = call.root;
  const int64_t bytes = call.bytes;
  switch (call.collective) {
    case Collective::barrier:
      return generated(dissemination(me, ranks));
    case Collective::bcast:
      return generated(down_the_tree(me, root, ranks, bytes, false));
    case Collective::scatter:
      return generated(down_the_tree(me, root, ranks, bytes, true));
    case Collective::reduce:
      return generated(up_the_tree(me, root, ranks, bytes, false));
    case Collective::gather:
      return generated(up_the_tree(me, root, ranks, bytes, true));
    case Collective::allreduce:
      return generated(all_reduce(me, ranks, bytes, bytes > kShortReduction));
    case Collective::scan:
      return generated(prefix(me, ranks, bytes));
    case Collective::reduce_scatter:
      return generated(pairwise(me, ranks, bytes));
    case Collective::allgather:
    case Collective::alltoall:
      break;
  }
  return exchange(call, placement);
}

}  // namespace haichi::predict
