#include "fake_mpi/calls.h"

#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "fake_mpi/memory.h"
#include "fake_mpi/world.h"
#include "fmt/format.h"

namespace haichi::test {
namespace {

constinit std::atomic<bool> g_watching = false;
constinit std::atomic<int64_t> g_count = 0;
constinit std::atomic<int64_t> g_failing = -1;
constinit std::atomic<bool> g_polled = false;  // by the last call
constinit std::atomic<int> g_made[int(Handle::count)] = {};

}  // namespace

void watch_calls(int64_t failing) {
  g_count = 0;
  g_failing = failing;
  g_watching = true;
}

void stop_watching_calls() { g_watching = false; }

int64_t watched_calls() { return g_count; }

LibraryCall::LibraryCall(const char* function, bool polls) {
  const Self& me = self();
  if (me.world->aborted() >= 0) _exit(me.world->aborted());
  if (!g_watching) return;
  if (!me.world->options.types_fail && std::string_view(function).starts_with("MPI_Type_")) return;
  if (g_polled.exchange(polls) && polls) return;
  fails_ = g_count.fetch_add(1) == g_failing;
  if (fails_) snprintf(me.world->ending(me.rank).failed, 32, "%s", function);
}

void made(Handle handle, int by) { g_made[int(handle)] += by; }

std::string handles_left() {
  constexpr const char* kNames[] = {"requests", "communicators", "datatypes", "operations"};
  std::string text;
  for (int kind = 0; kind < int(Handle::count); ++kind)
    if (const int left = g_made[kind]; left != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", left, kNames[kind]);
  return text;
}

}  // namespace haichi::test
