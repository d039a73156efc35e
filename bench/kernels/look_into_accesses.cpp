// Intersecting a view with a file domain: the cost must be that of what falls into the domain,
// however large the view is.
#include <benchmark/benchmark.h>

#include "shapes.h"

namespace haichi::bench {
namespace {

using Shape = PatternPtr (*)(int64_t regions);

/// Where does an offset lie in the view's data?
void position_of(benchmark::State& state, Shape shape) {
  const Access access = access_of(shape(state.range(0)));
  const int64_t end = access.hull().end;
  int64_t at = 0;
  for (auto _ : state) {
    at = (at + 1'000'003) % end;
    benchmark::DoNotOptimize(access.position_of(at));
  }
}
BENCHMARK_CAPTURE(position_of, vector, vector_of)->RangeMultiplier(100)->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(position_of, vector_of_vectors, vector_of_vectors)
    ->RangeMultiplier(100)
    ->Range(1000, 10'000'000);
BENCHMARK_CAPTURE(position_of, irregular, irregular)->RangeMultiplier(100)->Range(1000, 1'000'000);

/// The blocks of a window of `range(1)` bytes in the middle of a view of `range(0)` regions.
void blocks_of_window(benchmark::State& state, Shape shape) {
  const Access access = access_of(shape(state.range(0)));
  const int64_t begin = access.hull().end / 2;
  int64_t blocks = 0;
  for (auto _ : state) {
    blocks = 0;
    access.for_each_block(access.position_of(begin), access.position_of(begin + state.range(1)),
                          [&](int64_t at, int64_t n) {
                            benchmark::DoNotOptimize(at + n);
                            ++blocks;
                          });
  }
  state.counters["blocks"] = double(blocks);
}
BENCHMARK_CAPTURE(blocks_of_window, vector, vector_of)
    ->ArgsProduct({{100'000, 10'000'000}, {4096, 65'536, 1 << 20}});
BENCHMARK_CAPTURE(blocks_of_window, hvector_of_struct, hvector_of_struct)
    ->ArgsProduct({{100'000, 10'000'000}, {4096, 65'536, 1 << 20}});
BENCHMARK_CAPTURE(blocks_of_window, irregular, irregular)
    ->ArgsProduct({{100'000, 1'000'000}, {4096, 65'536}});

/// What one rank tells an aggregator that has a quarter of the file.
void encode_quarter(benchmark::State& state, Shape shape) {
  const Access access = access_of(shape(state.range(0)));
  const int64_t end = access.hull().end;
  size_t bytes = 0;
  for (auto _ : state)
    bytes = access.encode(access.position_of(end / 4), access.position_of(end / 2)).size();
  state.counters["encoded"] = double(bytes);
}

/// Many regular parts, none like another: each must be told as one.
PatternPtr ragged(int64_t regions) {
  std::vector<Pattern::Placed> parts;
  for (int64_t i = 0, at = 0; i < 1000; ++i) {
    parts.push_back({at, Pattern::loop(Pattern::block(8), regions / 1000 + i, 16)});
    at += parts.back().pattern->end() + 100;
  }
  return Pattern::sequence(std::move(parts));
}
BENCHMARK_CAPTURE(encode_quarter, vector, vector_of)->Range(1000, 10'000'000)->RangeMultiplier(100);
BENCHMARK_CAPTURE(encode_quarter, ragged, ragged)->Range(10'000, 10'000'000)->RangeMultiplier(100);
BENCHMARK_CAPTURE(encode_quarter, irregular, irregular)
    ->RangeMultiplier(100)
    ->Range(1000, 1'000'000);

}  // namespace
}  // namespace haichi::bench
