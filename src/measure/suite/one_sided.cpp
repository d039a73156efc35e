// One-sided operations under every kind of synchronisation: the first rank of a pair is the origin,
// the other one the target.
#include <fmt/format.h>

#include <algorithm>

#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr Sizes kOperands{8, 1 << 20};

struct Arguments {
  char *out, *in, *compare;
  int bytes, longs;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Group other;  // the one rank that is the peer
};

using A = const Arguments&;
using R = MPI_Request*;

struct Operation {
  const char* name;
  const char* function;
  bool sized;
  int (*issue)(A);
};

const Operation kOperations[] = {
    {"put", "MPI_Put", true,
     [](A a) { return MPI_Put(a.out, a.bytes, MPI_BYTE, 1, 0, a.bytes, MPI_BYTE, a.window); }},
    {"get", "MPI_Get", true,
     [](A a) { return MPI_Get(a.in, a.bytes, MPI_BYTE, 1, 0, a.bytes, MPI_BYTE, a.window); }},
    {"accumulate", "MPI_Accumulate", true,
     [](A a) {
       return MPI_Accumulate(a.out, a.longs, MPI_INT64_T, 1, 0, a.longs, MPI_INT64_T, MPI_SUM,
                             a.window);
     }},
    {"get-accumulate", "MPI_Get_accumulate", true,
     [](A a) {
       return MPI_Get_accumulate(a.out, a.longs, MPI_INT64_T, a.in, a.longs, MPI_INT64_T, 1, 0,
                                 a.longs, MPI_INT64_T, MPI_SUM, a.window);
     }},
    {"fetch-and-op", "MPI_Fetch_and_op", false,
     [](A a) { return MPI_Fetch_and_op(a.out, a.in, MPI_INT64_T, 1, 0, MPI_SUM, a.window); }},
    // Of 32 bits: of 64 it crashes ranks of one node under Open MPI 4.1
    // (https://github.com/open-mpi/ompi/issues/11349).
    {"compare-and-swap", "MPI_Compare_and_swap", false,
     [](A a) { return MPI_Compare_and_swap(a.out, a.compare, a.in, MPI_INT32_T, 1, 0, a.window); }},
};

struct Requested {
  const char* name;
  const char* function;
  int (*issue)(A, R);
};

const Requested kRequested[] = {
    {"rput", "MPI_Rput",
     [](A a, R r) {
       return MPI_Rput(a.out, a.bytes, MPI_BYTE, 1, 0, a.bytes, MPI_BYTE, a.window, r);
     }},
    {"rget", "MPI_Rget",
     [](A a, R r) {
       return MPI_Rget(a.in, a.bytes, MPI_BYTE, 1, 0, a.bytes, MPI_BYTE, a.window, r);
     }},
    {"raccumulate", "MPI_Raccumulate",
     [](A a, R r) {
       return MPI_Raccumulate(a.out, a.longs, MPI_INT64_T, 1, 0, a.longs, MPI_INT64_T, MPI_SUM,
                              a.window, r);
     }},
    {"rget-accumulate", "MPI_Rget_accumulate",
     [](A a, R r) {
       return MPI_Rget_accumulate(a.out, a.longs, MPI_INT64_T, a.in, a.longs, MPI_INT64_T, 1, 0,
                                  a.longs, MPI_INT64_T, MPI_SUM, a.window, r);
     }},
};

Arguments arguments_of(Case& c) {
  const int64_t bytes = std::max<int64_t>(c.bytes, 8);
  Arguments a;
  a.out = c.memory(bytes);
  a.in = c.memory(bytes);
  a.compare = c.memory(bytes);
  a.bytes = int(bytes);
  a.longs = int(bytes / 8);
  a.window = c.allocated_window(bytes);
  const int peer = c.peer();
  const MPI_Group all = c.group_of_all();
  a.other =
      c.group("MPI_Group_incl", [&](MPI_Group* one) { return MPI_Group_incl(all, 1, &peer, one); });
  return a;
}

using Issue = int (*)(A);

Body under_fence(Case& c, Issue issue) {
  const Arguments a = arguments_of(c);
  const bool origin = c.rank == 0;
  c.together("MPI_Win_fence", [&] { must(MPI_Win_fence(0, a.window)); });
  return {.call = [=] {
    if (origin) must(issue(a));
    must(MPI_Win_fence(0, a.window));
  }};
}

Body under_pscw(Case& c, Issue issue) {
  const Arguments a = arguments_of(c);
  if (c.rank != 0)
    return {.call = [=] {
      must(MPI_Win_post(a.other, 0, a.window));
      must(MPI_Win_wait(a.window));
    }};
  return {.call = [=] {
    must(MPI_Win_start(a.other, 0, a.window));
    must(issue(a));
    must(MPI_Win_complete(a.window));
  }};
}

Body under_lock(Case& c, Issue issue) {
  const Arguments a = arguments_of(c);
  const bool origin = c.rank == 0;
  return {.call = [=] {
    if (!origin) return;
    must(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, a.window));
    must(issue(a));
    must(MPI_Win_unlock(1, a.window));
  }};
}

// Within an epoch of all ranks, which lasts as long as the point is measured.
template <class Call>
Body within_lock_all(Case& c, Call call) {
  const Arguments a = arguments_of(c);
  const bool origin = c.rank == 0;
  c.lock_all(a.window);
  return {.call = [=] {
    if (origin) call(a);
  }};
}

Body under_flush(Case& c, Issue issue) {
  return within_lock_all(c, [issue](A a) {
    must(issue(a));
    must(MPI_Win_flush(1, a.window));
  });
}

Body under_flush_local(Case& c, Issue issue) {
  return within_lock_all(c, [issue](A a) {
    must(issue(a));
    must(MPI_Win_flush_local(1, a.window));
  });
}

struct Synchronisation {
  const char* name;
  const char* timed;  // {} is the operation
  bool passive;       // the target calls nothing
  std::vector<std::string> functions;
  Body (*make)(Case&, Issue);
};

std::vector<Synchronisation> synchronisations() {
  return {
      {"fence", "{}, Win_fence; the target Win_fence", false, {"MPI_Win_fence"}, under_fence},
      {"pscw",
       "Win_start, {}, Win_complete; the target Win_post, Win_wait",
       false,
       {"MPI_Win_start", "MPI_Win_complete", "MPI_Win_post", "MPI_Win_wait"},
       under_pscw},
      {"lock",
       "Win_lock (shared), {}, Win_unlock",
       true,
       {"MPI_Win_lock", "MPI_Win_unlock"},
       under_lock},
      {"flush",
       "{}, Win_flush, within Win_lock_all",
       true,
       {"MPI_Win_flush", "MPI_Win_lock_all", "MPI_Win_unlock_all"},
       under_flush},
      {"flush-local",
       "{}, Win_flush_local, within Win_lock_all",
       true,
       {"MPI_Win_flush_local"},
       under_flush_local},
  };
}

Measurement entry(std::string name, std::string timed, bool sized) {
  return {.name = std::move(name),
          .group = "rma",
          .section = "12.3",
          .timed = std::move(timed),
          .sample = "the calls of the origin, begun behind a barrier",
          .buffers = "memory of a window from Win_allocate, and as much on the origin: hot",
          .sizes = sized ? kOperands : kNone,
          .who = Who::pair,
          .over = Over::first};
}

// Samples follow each other: the target waits at the end of them all.
void leave_target_alone(Measurement& one) {
  one.sample =
      "the calls of the origin, one after the other, while the target waits in a broadcast";
  one.start = Start::back_to_back;
}

void add(const Operation& operation, const Synchronisation& how, std::vector<Measurement>& all) {
  Measurement one =
      entry(std::string(operation.name) + "-" + how.name,
            fmt::format(fmt::runtime(how.timed), operation.function + 4), operation.sized);
  one.functions = how.functions;
  one.functions.insert(one.functions.begin(), operation.function);
  if (how.passive) leave_target_alone(one);
  one.make = [make = how.make, issue = operation.issue](Case& c) { return make(c, issue); };
  all.push_back(std::move(one));
}

void add(const Requested& operation, std::vector<Measurement>& all) {
  Measurement one = entry(
      operation.name, fmt::format("{}, Wait, within Win_lock_all", operation.function + 4), true);
  one.functions = {operation.function};
  leave_target_alone(one);
  one.make = [issue = operation.issue](Case& c) {
    return within_lock_all(c, [issue](A a) {
      MPI_Request request = MPI_REQUEST_NULL;
      must(issue(a, &request));
      must(MPI_Wait(&request, MPI_STATUS_IGNORE));
    });
  };
  all.push_back(std::move(one));
}

}  // namespace

std::vector<Measurement> one_sided() {
  std::vector<Measurement> all;
  for (const Synchronisation& how : synchronisations())
    for (const Operation& operation : kOperations) add(operation, how, all);
  for (const Requested& operation : kRequested) add(operation, all);
  return all;
}

}  // namespace haichi::measure
