// Which bytes of a window of 1 MiB many ranks give: regular ranks by arithmetic over one period,
// irregular ones in one go over the blocks that are in the window.
#include <benchmark/benchmark.h>

#include "mpiio/regions/coverage.h"
#include "shapes.h"

namespace haichi::bench {
namespace {

constexpr plan::Extent kWindow{64 << 20, 65 << 20};

void merge(benchmark::State& state, const std::vector<Access>& accesses) {
  int64_t blocks = 0;
  for (const Access& access : accesses)
    access.for_each_block(access.position_of(kWindow.begin), access.position_of(kWindow.end),
                          [&](int64_t, int64_t) { ++blocks; });
  mpiio::Coverage found;
  for (auto _ : state) {
    found = mpiio::coverage_of(accesses, kWindow);
    benchmark::DoNotOptimize(found);
  }
  state.counters["blocks"] = double(blocks);
  state.counters["runs"] = double(found.runs.size());
  state.counters["bytes"] = double(found.runs.footprint());
  state.counters["per_block"] = benchmark::Counter(
      double(blocks), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Ranks take turns, 64 bytes each; `range(1)` of 64 bytes are nobody's.
void merge_regular(benchmark::State& state) {
  const int64_t ranks = state.range(0), turn = 64, stride = ranks * turn + state.range(1);
  std::vector<Access> accesses;
  for (int64_t r = 0; r < ranks; ++r)
    accesses.emplace_back(mpiio::View{r * turn, Pattern::block(turn), stride}, 0,
                          (128 << 20) / stride * turn);
  merge(state, accesses);
}
BENCHMARK(merge_regular)->ArgsProduct({{2, 16, 256}, {0, 64}});

/// Rows of a 2-D array, each rank with columns of its own.
void merge_columns(benchmark::State& state) {
  const int64_t ranks = state.range(0), part = 4096 / ranks;
  std::vector<Access> accesses;
  for (int64_t r = 0; r < ranks; ++r)
    accesses.push_back(
        access_of(Pattern::shifted(Pattern::loop(Pattern::block(part), 128 << 8, 4096), r * part)));
  merge(state, accesses);
}
BENCHMARK(merge_columns)->RangeMultiplier(8)->Range(2, 256);

/// `range(0)` ranks give pieces of 8 to 8 + `range(1)` bytes in an order without a rule.
void merge_irregular(benchmark::State& state) {
  const int64_t ranks = state.range(0);
  std::vector<mpiio::PatternBuilder> tiles(static_cast<size_t>(ranks));
  uint64_t random = 1;
  for (int64_t at = 0; at < 66 << 20;) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const int64_t size = 8 + int64_t(random >> 33) % state.range(1);
    if (at > 62 << 20) tiles[size_t((random >> 20) % uint64_t(ranks))].add(at, size);
    at += size;
  }
  std::vector<Access> accesses;
  for (auto& tile : tiles) accesses.push_back(access_of(tile.build()));
  merge(state, accesses);
}
BENCHMARK(merge_irregular)->ArgsProduct({{2, 16, 256}, {16, 8192}});

}  // namespace
}  // namespace haichi::bench
