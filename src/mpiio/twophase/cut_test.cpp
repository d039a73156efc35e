#include "mpiio/twophase/cut.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mpiio/regions/spread.h"
#include "mpiio/twophase/demand_sum.h"
#include "mpiio/twophase/two_phase.h"
#include "support/random_placement.h"
#include "support/strided_demand.h"

namespace haichi::mpiio {
namespace {

TwoPhasePlan plan(const placement::Placement& placement, const TwoPhaseOptions& options,
                  Direction direction, const std::vector<Access>& accesses) {
  std::vector<RankDemand> demands;
  for (const Access& each : accesses) demands.push_back(demand_of(each));
  return plan_two_phase(placement, options, direction, demands);
}

/// Some ranks have pieces with random gaps between them, others nothing.
std::vector<Access> random_accesses(test::Random& random, int ranks, int64_t most_gap) {
  std::vector<Access> accesses;
  for (int r = 0; r < ranks; ++r) {
    PatternBuilder builder;
    int64_t at = random.between(0, most_gap), bytes = 0;
    for (int64_t pieces = random.below(4) ? random.between(1, 300) : 0; pieces > 0; --pieces) {
      const int64_t size = random.between(8, 64 << 10);
      builder.add(at, size);
      bytes += size;
      at += size + random.between(0, most_gap);
    }
    accesses.emplace_back(View{0, builder.build(), at}, 0, bytes);
  }
  return accesses;
}

TEST(Cut, OfTheSumsHasTheCyclesOfThePlan) {
  int in_parts = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const auto placement = test::random_placement(random, int(random.between(2, 16)));
    TwoPhaseOptions options;
    options.keep_local = false;  // even domains
    options.buffer = random.between(64 << 10, 16 << 20);
    const Direction direction = random.below(2) ? Direction::write : Direction::read;
    const auto accesses =
        random_accesses(random, placement.ranks(), int64_t{1} << random.between(4, 30));
    const TwoPhasePlan planned = plan(placement, options, direction, accesses);
    const Demand sum = sum_of(accesses, direction);
    const Cut cut = cut_of(placement, options, aggregators_of(placement, options), sum);
    const double cycles = double(planned.domains.cycles());
    in_parts += cut.in_parts;
    // A part is not cut any more if half of it is somebody's.
    if (cut.in_parts && 2 * cut.bytes > most_in_parts(sum.hull.size())) continue;
    // Where there are no more cycles than are worth it, smaller holes are not looked for.
    if (cycles > kOverlappingCycles)
      EXPECT_NEAR(double(cut.cycles), cycles, 0.2 * cycles + 1) << seed;
    else
      EXPECT_LE(cut.cycles, kOverlappingCycles + 1) << seed;
  }
  EXPECT_GT(in_parts, 60);
  EXPECT_LT(in_parts, 290);
}

TEST(Cut, OfRanksThatHaveTheSamePlacesCountsThemOnce) {
  for (const int nodes : {1, 4}) {
    const auto placement = placement::block(nodes, 8 / nodes);
    std::vector<Access> accesses;
    for (int r = 0; r < 8; ++r)
      accesses.emplace_back(View{r * 64, Pattern::block(64), 1 << 20}, 0, 64 * 10'000);
    const Cut cut =
        cut_of(placement, {}, aggregators_of(placement, {}), sum_of(accesses, Direction::write));
    EXPECT_TRUE(cut.in_parts);
    EXPECT_NEAR(double(cut.parts), 10'000, 200);
    EXPECT_EQ(cut.bytes, 8 * 64 * 10'000);
    EXPECT_EQ(cut.cycles, plan(placement, {}, Direction::write, accesses).domains.cycles());
  }
}

/// Parts between holes of `hole` or more, and their bytes, of all ranks together.
Spread spread_together(const std::vector<Access>& accesses, int64_t hole) {
  std::vector<plan::Extent> pieces;
  for (const Access& access : accesses)
    access.for_each_block(access.begin(), access.end(),
                          [&](int64_t at, int64_t size) { pieces.push_back({at, at + size}); });
  std::ranges::sort(pieces, {}, &plan::Extent::begin);
  Spread spread;
  int64_t end = INT64_MIN / 2;
  for (const plan::Extent& piece : pieces) {
    const bool new_part = piece.begin - end >= hole;
    spread.parts += new_part;
    spread.bytes += std::max<int64_t>(0, piece.end - (new_part ? piece.begin : end));
    end = std::max(end, piece.end);
  }
  return spread;
}

// Each rank has large holes that the others' pieces lie in.
TEST(Cut, OfRanksThatLieBetweenEachOtherLooksAtAllOfThem) {
  int dense = 0, sparse = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const auto placement = test::random_placement(random, int(random.between(4, 16)));
    const Direction direction = random.below(2) ? Direction::write : Direction::read;
    const int64_t stride = hole_of(direction) * random.between(2, random.below(2) ? 5 : 60);
    std::vector<Access> accesses;
    for (int r = 0; r < placement.ranks(); ++r)
      accesses.emplace_back(View{random.below(stride), Pattern::block(256), stride}, 0, 256 * 200);
    const Spread all = spread_together(accesses, hole_of(direction));
    const Demand sum = sum_of(accesses, direction);
    const Cut cut = cut_of(placement, {}, aggregators_of(placement, {}), sum);
    const double share = double(all.bytes) / double(sum.hull.size());
    dense += share > 0.6;
    sparse += share < 0.1;
    if (share > 0.6) {
      EXPECT_FALSE(cut.in_parts) << seed << ": " << share;
    }
    if (share < 0.1 &&
        cut_of_range(placement, {}, aggregators_of(placement, {}), sum.hull).cycles > 1) {
      EXPECT_TRUE(cut.in_parts) << seed << ": " << share;
    }
  }
  EXPECT_GT(dense, 20);
  EXPECT_GT(sparse, 50);
}

TEST(Cut, OfWhatIsDenseIsTheRange) {
  const auto placement = placement::block(1, 4);
  const Demand dense = demand(4, 10'000, 3744, 16'000, 4000);
  const Cut cut = cut_of(placement, {}, aggregators_of(placement, {}), dense);
  EXPECT_FALSE(cut.in_parts);
  EXPECT_EQ(cut.bytes, dense.hull.size());
  EXPECT_EQ(cut.cycles,
            cut_of_range(placement, {}, aggregators_of(placement, {}), dense.hull).cycles);
}

TEST(Cut, TooManyPartsAreNotLookedFor) {
  const auto placement = placement::block(1, 4);
  const Demand many = demand(4, kMostParts, 64, 1 << 20, 64 << 10);
  EXPECT_FALSE(cut_of(placement, {}, aggregators_of(placement, {}), many).in_parts);
  EXPECT_TRUE(
      cut_of(placement, {}, aggregators_of(placement, {}), demand(4, 1000, 64, 1 << 20, 64 << 10))
          .in_parts);
}

}  // namespace
}  // namespace haichi::mpiio
