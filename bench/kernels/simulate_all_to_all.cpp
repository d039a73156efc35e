// What simulating an all-to-all costs, and how that grows with the messages: at 4096 ranks 16.8
// million of them, all posted at once.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <vector>

#include "collectives/algorithm.h"
#include "sim/simulator.h"

namespace haichi::bench {
namespace {

/// `range(0)` nodes of `range(1)` ranks in rank order, where most messages are under way at a time.
/// `peak_bytes` is the most memory that the process has had so far.
void simulate_all_to_all(benchmark::State& state) {
  const auto placement = placement::block(int(state.range(0)), int(state.range(1)));
  const collectives::Candidate spread = *collectives::parse_candidate("spread(rank)");
  double messages = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<plan::Schedule>> schedules;
    std::vector<plan::Schedule*> all;
    for (int r = 0; r < placement.ranks(); ++r)
      all.push_back(schedules.emplace_back(spread.schedule({&placement, r, 1024})).get());
    const auto outcome = sim::simulate(placement, {}, all);
    if (!outcome) return state.SkipWithError(outcome.error().text.c_str());
    messages = double(outcome->messages);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["messages"] = messages;
  state.counters["peak_bytes"] = double(used.ru_maxrss) * 1024;
  state.counters["per_message"] = benchmark::Counter(
      messages, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(simulate_all_to_all)
    ->ArgsProduct({{16, 32, 64, 128, 256, 512}, {8}})
    ->Args({64, 12})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace haichi::bench
