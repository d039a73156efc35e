// Building the pattern of a datatype: time and memory by the number of regions. What is regular
// must cost the same for 1,000 regions and for 10,000,000.
#include <benchmark/benchmark.h>

#include "shapes.h"

namespace haichi::bench {
namespace {

using Shape = PatternPtr (*)(int64_t regions);

void build(benchmark::State& state, Shape shape) {
  for (auto _ : state) benchmark::DoNotOptimize(shape(state.range(0)));
  const PatternPtr pattern = shape(state.range(0));
  state.counters["bytes"] = double(pattern->footprint());
  state.counters["encoded"] = double(pattern->encode().size());
  state.counters["regions"] = double(pattern->blocks());
}

BENCHMARK_CAPTURE(build, vector, vector_of)->RangeMultiplier(100)->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(build, vector_of_vectors, vector_of_vectors)
    ->RangeMultiplier(100)
    ->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(build, subarray_3d, subarray_3d)->RangeMultiplier(100)->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(build, hvector_of_struct, hvector_of_struct)
    ->RangeMultiplier(100)
    ->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(build, irregular, irregular)->RangeMultiplier(100)->Range(1000, 1'000'000);

/// The list of an indexed type that happens to be regular is read once and becomes a loop.
void build_regular_list(benchmark::State& state) {
  const PatternPtr block = Pattern::block(8);
  std::vector<Pattern::Placed> parts;
  for (int64_t i = 0; i < state.range(0); ++i) parts.push_back({i * 16, block});
  PatternPtr pattern;
  for (auto _ : state) pattern = Pattern::sequence(parts);
  state.counters["bytes"] = double(pattern->footprint());
}
BENCHMARK(build_regular_list)->RangeMultiplier(100)->Range(1000, 1'000'000);

}  // namespace
}  // namespace haichi::bench
