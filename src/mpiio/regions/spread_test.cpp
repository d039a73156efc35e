#include "mpiio/regions/spread.h"

#include <gtest/gtest.h>

#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

constexpr int64_t kHole = 16 << 10;

Access strided(int64_t piece, int64_t stride, int64_t pieces) {
  return Access(View{7, Pattern::block(piece), stride}, 0, piece * pieces);
}

/// By looking at every piece.
Spread counted(const Access& access) {
  Spread spread;
  int64_t end = INT64_MIN / 2;
  access.for_each_block(access.begin(), access.end(), [&](int64_t at, int64_t size) {
    const bool hole = at - end >= kHole;
    spread.parts += hole;
    spread.bytes += size + (hole ? 0 : at - end);
    end = at + size;
  });
  return spread;
}

TEST(Spread, OfFewPiecesIsExact) {
  EXPECT_EQ(spread_of(Access(), kHole).parts, 0);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    PatternBuilder builder;
    int64_t at = random.between(0, 1 << 20), bytes = 0;
    for (int64_t pieces = random.between(1, 32); pieces > 0; --pieces) {
      const int64_t size = random.between(1, 3000);
      builder.add(at, size);
      bytes += size;
      at += size + (random.below(2) ? random.between(1, 2 * kHole) : random.between(0, 100));
    }
    const Access access(View{0, builder.build(), at}, 0, bytes);
    const Spread is = spread_of(access, kHole), should = counted(access);
    EXPECT_EQ(is.parts, should.parts) << seed;
    EXPECT_EQ(is.bytes, should.bytes) << seed;
  }
}

TEST(Spread, OfManyIsEstimated) {
  for (const int64_t pieces : {40, 1000, 1'000'000})
    for (const int64_t stride : {int64_t{300}, kHole, kHole + 64, int64_t{1} << 30}) {
      const Access access = strided(64, stride, pieces);
      const Spread is = spread_of(access, kHole), should = counted(access);
      EXPECT_NEAR(double(is.parts), double(should.parts), 0.02 * double(should.parts)) << stride;
      EXPECT_NEAR(double(is.bytes), double(should.bytes), 0.02 * double(should.bytes)) << stride;
    }
}

TEST(Spread, OfIrregularPiecesIsEstimated) {
  test::Random random(1);
  PatternBuilder builder;
  int64_t at = 0, bytes = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int64_t size = random.between(8, 5000);
    builder.add(at, size);
    bytes += size;
    at += size + (random.below(4) == 0 ? random.between(kHole, 100 * kHole) : 10);
  }
  const Access access(View{0, builder.build(), at}, 0, bytes);
  const Spread is = spread_of(access, kHole), should = counted(access);
  EXPECT_NEAR(double(is.parts), double(should.parts), 0.4 * double(should.parts));
  EXPECT_NEAR(double(is.bytes), double(should.bytes), 0.05 * double(should.bytes));
}

// A header and cells far behind it: the one large hole is nobody's.
TEST(Spread, AHoleThatIsNotSeenIsInNoPart) {
  const PatternPtr tile =
      Pattern::sequence({{0, Pattern::block(512)},
                         {int64_t{4} << 30, Pattern::loop(Pattern::block(40), 10'000, 160)}});
  const Access access(View{0, tile, int64_t{8} << 30}, 0, tile->size());
  EXPECT_NEAR(double(spread_of(access, kHole).bytes), 160.0 * 10'000, 0.05 * 160 * 10'000);
}

}  // namespace
}  // namespace haichi::mpiio
