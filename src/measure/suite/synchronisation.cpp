// The synchronisation of windows alone, without any operation in it: a fence with each of its
// assertions (paper 001, 3.4), the four calls of generalised active target, locks and flushes.
#include "measure/case/case.h"
#include "measure/suite/groups.h"

namespace haichi::measure {
namespace {

constexpr int64_t kWindowBytes = 4096;

Measurement entry(std::string name, std::vector<std::string> functions, std::string timed,
                  std::function<Body(Case&)> make) {
  return {.name = std::move(name),
          .group = "synchronisation",
          .functions = std::move(functions),
          .section = "12.5",
          .timed = std::move(timed),
          .sample = "the calls on all ranks, without operations",
          .buffers = "a window of 4 KiB from Win_allocate",
          .make = std::move(make),
          .start = Start::back_to_back};
}

Measurement fence(const char* name, int assertion, const char* words) {
  return entry(std::string("fence") + name, {"MPI_Win_fence"},
               std::string("Win_fence with assertion ") + words, [assertion](Case& c) {
                 const MPI_Win window = c.allocated_window(kWindowBytes);
                 return Body{.call = [=] { must(MPI_Win_fence(assertion, window)); }};
               });
}

// The group of the one rank `distance` behind this one in a ring.
MPI_Group neighbour(Case& c, MPI_Group all, int distance) {
  const int rank = (c.rank + distance + c.ranks) % c.ranks;
  return c.group("MPI_Group_incl",
                 [&](MPI_Group* one) { return MPI_Group_incl(all, 1, &rank, one); });
}

// Each rank is the origin of the next one's window and the target of the one before.
Body ring(Case& c, bool tests) {
  const MPI_Win window = c.allocated_window(kWindowBytes);
  const MPI_Group all = c.group_of_all();
  const MPI_Group before = neighbour(c, all, -1), behind = neighbour(c, all, 1);
  return {.call = [=] {
    must(MPI_Win_post(before, 0, window));
    must(MPI_Win_start(behind, 0, window));
    must(MPI_Win_complete(window));
    if (!tests) must(MPI_Win_wait(window));
    for (int done = tests ? 0 : 1; done == 0;) must(MPI_Win_test(window, &done));
  }};
}

// Lock and unlock of one rank's window by the first rank of a pair.
Measurement lock(const char* name, int type) {
  Measurement one =
      entry(std::string("lock-") + name, {"MPI_Win_lock", "MPI_Win_unlock"},
            std::string("Win_lock (") + name + "), Win_unlock of the other rank", [type](Case& c) {
              const MPI_Win window = c.allocated_window(kWindowBytes);
              const bool origin = c.rank == 0;
              return Body{.call = [=] {
                if (!origin) return;
                must(MPI_Win_lock(type, 1, 0, window));
                must(MPI_Win_unlock(1, window));
              }};
            });
  one.sample = "the calls on the first rank of a pair, while the other is in a barrier";
  one.who = Who::pair;
  one.start = Start::barrier;
  one.over = Over::first;
  return one;
}

using OfRank = int (*)(int, MPI_Win);
using OfAll = int (*)(MPI_Win);

// Within an epoch of all; each rank on its own.
Measurement within_lock_all(const char* name, const char* function,
                            std::function<int(const Case&, MPI_Win)> call) {
  return entry(name, {function}, std::string(function + 4) + " within Win_lock_all",
               [call = std::move(call)](Case& c) {
                 const MPI_Win window = c.allocated_window(kWindowBytes);
                 c.lock_all(window);
                 return Body{.call = [&c, call, window] { must(call(c, window)); }};
               });
}

Measurement flush(const char* name, const char* function, OfRank call) {
  return within_lock_all(name, function, [call](const Case& c, MPI_Win window) {
    return call((c.rank + 1) % c.ranks, window);
  });
}

Measurement flush(const char* name, const char* function, OfAll call) {
  return within_lock_all(name, function,
                         [call](const Case&, MPI_Win window) { return call(window); });
}

}  // namespace

std::vector<Measurement> synchronisation() {
  constexpr int kEvery =
      MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  std::vector<Measurement> all = {
      fence("", 0, "0"),
      fence("-nostore", MPI_MODE_NOSTORE, "MPI_MODE_NOSTORE"),
      fence("-noput", MPI_MODE_NOPUT, "MPI_MODE_NOPUT"),
      fence("-noprecede", MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE"),
      fence("-nosucceed", MPI_MODE_NOSUCCEED, "MPI_MODE_NOSUCCEED"),
      fence("-all-assertions", kEvery, "of all four"),
      lock("shared", MPI_LOCK_SHARED),
      lock("exclusive", MPI_LOCK_EXCLUSIVE),
      flush("flush", "MPI_Win_flush", MPI_Win_flush),
      flush("flush-local", "MPI_Win_flush_local", MPI_Win_flush_local),
      flush("flush-all", "MPI_Win_flush_all", MPI_Win_flush_all),
      flush("flush-local-all", "MPI_Win_flush_local_all", MPI_Win_flush_local_all),
      flush("win-sync", "MPI_Win_sync", MPI_Win_sync),
  };
  all.push_back(entry("pscw", {"MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait"},
                      "Win_post, Win_start, Win_complete, Win_wait in a ring",
                      [](Case& c) { return ring(c, false); }));
  all.push_back(entry("pscw-test", {"MPI_Win_test"},
                      "Win_post, Win_start, Win_complete, Win_test until it is done, in a ring",
                      [](Case& c) { return ring(c, true); }));
  all.push_back(entry("lock-all", {"MPI_Win_lock_all", "MPI_Win_unlock_all"},
                      "Win_lock_all, Win_unlock_all on all ranks", [](Case& c) {
                        const MPI_Win window = c.allocated_window(kWindowBytes);
                        return Body{.call = [=] {
                          must(MPI_Win_lock_all(0, window));
                          must(MPI_Win_unlock_all(window));
                        }};
                      }));
  return all;
}

}  // namespace haichi::measure
