// What counting a call takes: the clock twice, the key, its times; of few keys and of many. With a
// send of 8 bytes under the recorder this is all but the wrapper and the look at the arguments.
#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "record/call_clock.h"
#include "record/recording.h"

namespace haichi::record {
namespace {

constexpr const char* kNames[] = {"MPI_Send", nullptr};

void record_calls(benchmark::State& state) {
  Recording recording(-1, kNames, {.now_ns = now_ns()});
  CallClock clock = {};
  Call call;
  call.key.function = 0;
  for (auto _ : state) {
    call.begin_ns = now_ns();
    call.compute_ns = clock.computed(call.begin_ns);
    call.key.bytes = (call.key.bytes + 1) % state.range(0);
    call.end_ns = now_ns();
    recording.lock().lock();
    recording.add(call);
    recording.lock().unlock();
    clock.over(call.begin_ns, call.end_ns);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(record_calls)->Arg(1)->Arg(100)->Arg(20'000);

void follow_requests(benchmark::State& state) {
  Requests requests;
  Begun begun;
  uint64_t next = 0;
  for (; next < uint64_t(state.range(0)); ++next) requests.add(next, begun);
  for (auto _ : state) {
    requests.add(next++, begun);
    requests.complete(next - uint64_t(state.range(0)), begun);
  }
}
BENCHMARK(follow_requests)->Arg(2)->Arg(1000);

}  // namespace
}  // namespace haichi::record
