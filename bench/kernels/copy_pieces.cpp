// Gathering pieces of memory: by a pattern, beside a plain loop over lists of places and lengths,
// which nothing can beat.
#include <benchmark/benchmark.h>

#include <cstring>

#include "base/copy_piece.h"
#include "shapes.h"

namespace haichi::bench {
namespace {

constexpr int64_t kPieces = 200'000;

/// Pieces of 8 bytes, or of 8 to 40, with gaps that have no rule.
std::vector<Pattern::Block> pieces(bool equal) {
  std::vector<Pattern::Block> blocks;
  uint64_t random = 1;
  for (int64_t i = 0, at = 0; i < kPieces; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    blocks.push_back({at, equal ? 8 : 8 + int64_t(random >> 40) % 33});
    at += blocks.back().size + 1 + int64_t(random >> 59);
  }
  return blocks;
}

struct Memory {
  explicit Memory(bool equal) : blocks(pieces(equal)), pattern(Pattern::scattered(blocks)) {
    from.resize(size_t(pattern->end()), std::byte{1});
    to.resize(size_t(pattern->size()));
  }
  std::vector<Pattern::Block> blocks;
  PatternPtr pattern;
  std::vector<std::byte> from, to;
};

void build_scattered(benchmark::State& state) {
  const auto blocks = pieces(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Pattern::scattered(blocks));
}
BENCHMARK(build_scattered)->ArgName("equal")->Arg(0)->Arg(1);

void gather_by_plain_loop(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state) {
    std::byte* out = m.to.data();
    for (const Pattern::Block& b : m.blocks) {
      memcpy(out, m.from.data() + b.offset, size_t(b.size));
      out += b.size;
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(gather_by_plain_loop)->ArgName("equal")->Arg(0)->Arg(1);

void gather_by_pattern(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state) {
    std::byte* out = m.to.data();
    m.pattern->for_each_block(0, m.pattern->size(), 0, [&](int64_t at, int64_t n) {
      copy_piece(out, m.from.data() + at, n);
      out += n;
    });
    benchmark::ClobberMemory();
  }
}
BENCHMARK(gather_by_pattern)->ArgName("equal")->Arg(0)->Arg(1);

}  // namespace
}  // namespace haichi::bench
