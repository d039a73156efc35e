#include "mpiio/regions/pattern.h"

#include <gtest/gtest.h>

#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

using Bytes = std::vector<int64_t>;  // offset of each position

Bytes bytes_of(const PatternPtr& p) {
  Bytes bytes;
  p->for_each_block(0, p->size(), 0, [&](int64_t at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) bytes.push_back(at + i);
  });
  return bytes;
}

/// Many blocks without a rule, with some regular stretches.
std::vector<Pattern::Placed> random_blocks(test::Random& random, bool ascending) {
  std::vector<Pattern::Placed> blocks;
  const bool equal = random.below(2);
  const int64_t size = random.between(1, 3);
  int64_t at = random.between(-10, 10);
  for (int64_t i = random.between(8, 60); i > 0; --i) {
    blocks.push_back({at, Pattern::block(equal ? size : random.between(1, 3))});
    at = ascending ? at + blocks.back().pattern->size() + (i < 40 ? random.between(0, 4) : 2)
                   : random.between(-90, 90);
  }
  return blocks;
}

/// A random pattern beside the plain list of its bytes.
struct Sample {
  PatternPtr pattern;
  Bytes bytes;
};

Sample random_sample(test::Random& random, int depth, bool ascending) {
  if (depth == 0 || random.below(4) == 0) {
    const int64_t n = random.between(0, 6);
    Bytes bytes;
    for (int64_t i = 0; i < n; ++i) bytes.push_back(i);
    return {Pattern::block(n), bytes};
  }
  if (random.below(2)) {
    const Sample child = random_sample(random, depth - 1, ascending);
    const int64_t count = random.between(0, 5);
    const int64_t span = child.pattern->end() - child.pattern->begin();
    const int64_t stride = ascending ? span + random.between(0, 4) : random.between(-20, 20);
    Bytes bytes;
    for (int64_t i = 0; i < count; ++i)
      for (const int64_t b : child.bytes) bytes.push_back(b + i * stride);
    return {Pattern::loop(child.pattern, count, stride), bytes};
  }
  std::vector<Pattern::Placed> parts;
  Bytes bytes;
  if (random.below(3) == 0) {
    parts = random_blocks(random, ascending);
    for (const auto& part : parts)
      for (int64_t i = 0; i < part.pattern->size(); ++i) bytes.push_back(part.offset + i);
    return {Pattern::sequence(std::move(parts)), bytes};
  }
  int64_t at = random.between(-10, 10);
  for (int64_t i = random.between(0, 6); i > 0; --i) {
    const Sample child = random_sample(random, depth - 1, ascending);
    if (ascending)
      at += random.between(0, 3) - child.pattern->begin();
    else
      at = random.between(-40, 40);
    parts.push_back({at, child.pattern});
    for (const int64_t b : child.bytes) bytes.push_back(at + b);
    at += child.pattern->end();
  }
  return {Pattern::sequence(std::move(parts)), bytes};
}

TEST(Pattern, EqualsThePlainListOfItsBytes) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 4, random.below(2));
    ASSERT_EQ(bytes_of(s.pattern), s.bytes) << seed;
    ASSERT_EQ(s.pattern->size(), int64_t(s.bytes.size())) << seed;
    if (s.bytes.empty()) continue;
    ASSERT_EQ(s.pattern->begin(), *std::min_element(s.bytes.begin(), s.bytes.end())) << seed;
    ASSERT_EQ(s.pattern->end(), *std::max_element(s.bytes.begin(), s.bytes.end()) + 1) << seed;
    if (s.pattern->sorted()) {
      ASSERT_TRUE(std::is_sorted(s.bytes.begin(), s.bytes.end(), std::less_equal<>())) << seed;
    }
  }
}

TEST(Pattern, BytesBelowCountsWhatAListWouldCount) {
  int sorted = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 4, true);
    if (!s.pattern->sorted()) continue;
    ++sorted;
    for (int64_t at = s.pattern->begin() - 2; at < s.pattern->end() + 2; ++at)
      ASSERT_EQ(s.pattern->bytes_below(at),
                std::lower_bound(s.bytes.begin(), s.bytes.end(), at) - s.bytes.begin())
          << "seed " << seed << " offset " << at;
  }
  EXPECT_GT(sorted, 1000);
}

TEST(Pattern, PartsOfItAreTheSameBytes) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 4, false);
    if (s.bytes.empty()) continue;
    const int64_t from = random.below(int64_t(s.bytes.size()));
    const int64_t to = random.between(from + 1, int64_t(s.bytes.size()));
    Bytes part;
    s.pattern->for_each_block(from, to, 100, [&](int64_t at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) part.push_back(at + i - 100);
    });
    ASSERT_EQ(part, Bytes(s.bytes.begin() + from, s.bytes.begin() + to)) << seed;
    if (const auto at = s.pattern->contiguous_at(from, to)) {
      for (int64_t i = from; i < to; ++i) ASSERT_EQ(s.bytes[size_t(i)], *at + i - from) << seed;
    }
  }
}

TEST(Pattern, APartAsAPatternIsTheSameBytes) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 4, random.below(2));
    const int64_t size = int64_t(s.bytes.size());
    const int64_t from = random.between(0, size), to = random.between(from, size);
    ASSERT_EQ(bytes_of(Pattern::part(s.pattern, from, to)),
              Bytes(s.bytes.begin() + from, s.bytes.begin() + to))
        << seed;
  }
}

TEST(Pattern, APartOfARegularOneIsAFewNumbers) {
  const PatternPtr rows = Pattern::loop(Pattern::loop(Pattern::block(4), 1000, 8), 10'000, 8003);
  const PatternPtr part = Pattern::part(rows, 6000 * 1000 + 17, 30'000'017);
  EXPECT_EQ(part->size(), 24'000'000);
  EXPECT_LT(part->footprint(), 3000);
}

TEST(Pattern, RepeatsAsItsBytesDo) {
  int repeating = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 4, true);
    if (!s.pattern->sorted() || s.bytes.empty()) continue;
    const int64_t from = random.below(int64_t(s.bytes.size()));
    const int64_t to = random.between(from + 1, int64_t(s.bytes.size()));
    const auto repeat = s.pattern->repeat(from, to);
    if (!repeat) continue;
    ASSERT_EQ(repeat->begin, s.bytes[size_t(from)]) << seed;
    ASSERT_EQ(repeat->end, s.bytes[size_t(to - 1)] + 1) << seed;
    auto has = [&](int64_t at) { return std::binary_search(s.bytes.begin(), s.bytes.end(), at); };
    for (int64_t at = repeat->begin; at + repeat->stride < repeat->end; ++at) {
      ASSERT_EQ(has(at), has(at + repeat->stride)) << seed;
      ASSERT_TRUE(repeat->stride != 0 || has(at)) << seed;
    }
    repeating += repeat->stride > 0;
  }
  EXPECT_GT(repeating, 100);
}

TEST(Pattern, EncodingKeepsTheBytes) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    test::Random random(seed);
    const Sample s = random_sample(random, 5, false);
    const auto copy = Pattern::decode(s.pattern->encode());
    ASSERT_TRUE(copy) << seed;
    ASSERT_EQ(bytes_of(*copy), s.bytes) << seed;
    ASSERT_EQ((*copy)->sorted(), s.pattern->sorted()) << seed;
  }
}

TEST(Pattern, RefusesADamagedEncoding) {
  const auto good = Pattern::loop(Pattern::block(3), 5, 7)->encode();
  EXPECT_TRUE(Pattern::decode(good));
  EXPECT_FALSE(Pattern::decode(std::span(good).first(good.size() - 8)));
  EXPECT_FALSE(Pattern::decode({}));
  for (const std::vector<int64_t>& damaged : {std::vector<int64_t>{1, 2, 3, 0},  // a loop of itself
                                              {3, 2, 8, 0},  // fewer offsets than it says
                                              {3, 0, 8},
                                              {4, 2, 0, 8, 4},
                                              {5, 1}})
    EXPECT_FALSE(Pattern::decode(std::as_bytes(std::span(damaged)))) << damaged[0];
}

TEST(Pattern, AVectorOf48000RegionsIsAFewNumbers) {
  const PatternPtr hpio = Pattern::loop(Pattern::block(3744), 48000, int64_t{768} * 4000);
  EXPECT_LT(hpio->footprint(), 1000);
  EXPECT_LT(hpio->encode().size(), 100u);
  EXPECT_EQ(hpio->blocks(), 48000);
  EXPECT_EQ(hpio->bytes_below(int64_t{768} * 4000 * 1000 + 5), 3744 * 1000 + 5);
}

TEST(Pattern, AnIrregularTypeIsAWordARegionOrTwo) {
  test::Random random(1);
  std::vector<Pattern::Placed> equal, ragged;
  for (int64_t i = 0, at = 0; i < 100'000; ++i) {
    equal.push_back({at, Pattern::block(8)});
    ragged.push_back({at, Pattern::block(random.between(1, 8))});
    at += random.between(9, 100);
  }
  const PatternPtr words = Pattern::sequence(std::move(equal));
  EXPECT_LT(words->footprint(), 100'000 * 8 + 1000);
  EXPECT_LT(words->encode().size(), 100'000u * 8 + 1000);
  EXPECT_LT(Pattern::part(words, 3, 400'003)->footprint(), 50'000 * 8 + 2000);
  EXPECT_LT(Pattern::sequence(std::move(ragged))->footprint(), 100'000 * 16 + 1000);
}

TEST(Pattern, AnIndexedTypeThatIsRegularBecomesALoop) {
  std::vector<Pattern::Placed> parts;
  for (int64_t i = 0; i < 10000; ++i) parts.push_back({i * 100, Pattern::block(10)});
  EXPECT_LT(Pattern::sequence(std::move(parts))->footprint(), 1000);
}

TEST(Pattern, ScatteredBlocksAreTheirSequence) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    std::vector<Pattern::Placed> parts = random_blocks(random, random.below(2));
    parts.push_back({parts.back().offset + 5, Pattern::block(0)});
    std::vector<Pattern::Block> blocks;
    Bytes bytes;
    for (const auto& part : parts) {
      blocks.push_back({part.offset, part.pattern->size()});
      for (int64_t i = 0; i < part.pattern->size(); ++i) bytes.push_back(part.offset + i);
    }
    const PatternPtr scattered = Pattern::scattered(blocks);
    ASSERT_EQ(bytes_of(scattered), bytes) << seed;
    ASSERT_EQ(scattered->encode(), Pattern::sequence(std::move(parts))->encode()) << seed;
  }
  EXPECT_TRUE(Pattern::scattered({})->empty());
  EXPECT_TRUE(Pattern::scattered({{3, 0}})->empty());
}

TEST(Pattern, IrregularPiecesOfLittleMoreThanABlockAreOneList) {
  test::Random random(2);
  const PatternPtr pair = Pattern::sequence({{0, Pattern::block(2)}, {8, Pattern::block(4)}});
  std::vector<Pattern::Placed> parts;
  Bytes bytes;
  for (int64_t i = 0, at = 0; i < 10'000; ++i, at += random.between(13, 90)) {
    parts.push_back({at, pair});
    for (const int64_t b : {0, 1, 8, 9, 10, 11}) bytes.push_back(at + b);
  }
  const PatternPtr flat = Pattern::sequence(std::move(parts));
  EXPECT_EQ(bytes_of(flat), bytes);
  EXPECT_LT(flat->footprint(), 10'000 * 2 * 16 + 1000);
  EXPECT_TRUE(flat->sorted());
}

TEST(PatternBuilder, JoinsNeighboursAndFindsLoops) {
  PatternBuilder builder;
  for (int64_t i = 0; i < 1000; ++i) {
    builder.add(i * 16, 4);
    builder.add(i * 16 + 4, 4);
  }
  const PatternPtr built = builder.build();
  EXPECT_EQ(built->size(), 8000);
  EXPECT_EQ(built->blocks(), 1000);
  EXPECT_LT(built->footprint(), 1000);
}

}  // namespace
}  // namespace haichi::mpiio
