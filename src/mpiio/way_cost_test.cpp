#include "mpiio/way_cost.h"

#include <gtest/gtest.h>

#include <map>

#include "support/strided_demand.h"

namespace haichi::mpiio {
namespace {

constexpr LibraryFileIo kRomio{.alone_if_apart = true}, kOmpio{.alone_if_apart = false};
const auto kNode = placement::block(1, 4), kNodes = placement::block(4, 4);

std::vector<WayCost> costs(const placement::Placement& placement, const Demand& wanted,
                           const LibraryFileIo& library, bool may_be_library = true) {
  const WayChoice choice =
      choose_way(placement, {}, Direction::write, wanted, library, may_be_library);
  return way_costs(placement, {}, Direction::write, wanted, library, choice, may_be_library);
}

std::map<Way, double> by_way(const std::vector<WayCost>& costs) {
  std::map<Way, double> found;
  for (const WayCost& each : costs) found[each.way] = each.seconds;
  return found;
}

TEST(WayCost, TheModelsChoiceIsFirstAndTheLibraryAlwaysACandidate) {
  for (const auto* placement : {&kNode, &kNodes})
    for (const LibraryFileIo& library : {kRomio, kOmpio})
      for (const Demand& wanted :
           {demand(4, 1000, 3744, 16'000, 4000), demand(4, 1, 1 << 20, 0, 1 << 20),
            demand(4, 20, 47'008, 188'032, 47'008)}) {
        const auto found = costs(*placement, wanted, library);
        const Way model = choose_way(*placement, {}, Direction::write, wanted, library, true).way;
        EXPECT_EQ(found[0].way, model);
        EXPECT_EQ(found.size(), 3u);
        EXPECT_TRUE(by_way(found).contains(Way::library));
      }
}

TEST(WayCost, WhatCannotBeDoneIsNoCandidate) {
  Demand wanted = demand(16, 1000, 3744, 64'000, 4000);
  EXPECT_FALSE(by_way(costs(kNodes, wanted, kRomio, false)).contains(Way::library));
  wanted.all_open = false;
  EXPECT_FALSE(by_way(costs(kNodes, wanted, kRomio)).contains(Way::alone));
}

TEST(WayCost, TheLibraryIsTriedLateWhereItIsKnownToBeSlow) {
  const Demand pieces = demand(16, 1000, 40, 640, 40);
  const auto romio = by_way(costs(kNodes, pieces, kRomio));
  const auto ompio = by_way(costs(kNodes, pieces, kOmpio));
  EXPECT_LT(romio.at(Way::library), 3 * romio.at(Way::two_phase));
  EXPECT_GT(ompio.at(Way::library), 30 * ompio.at(Way::two_phase));
}

TEST(WayCost, AnExchangeOfASplitAccessHasToGainAsMuchAsItMakesRanksWait) {
  constexpr LibraryFileIo kSplits{.splits_alone = true};
  const auto placement = placement::block(4, 4);
  const auto corrected = [&](const Demand& wanted) {
    const WayChoice choice = choose_way(placement, {}, Direction::write, wanted, kSplits, true);
    EXPECT_EQ(choice.reason, WayReason::split);
    return may_be_corrected(choice, [&] {
      return way_costs(placement, {}, Direction::write, wanted, kSplits, choice, true);
    });
  };
  EXPECT_FALSE(corrected(demand(16, 2, 4096, 64'000, 4096)));
  EXPECT_TRUE(corrected(demand(16, 1000, 3744, 64'000, 4000)));
}

TEST(WayCost, ARequestForEachSmallPieceIsExpectedToCostMoreThanAnExchange) {
  const auto small = by_way(costs(kNodes, demand(16, 100'000, 40, 640, 40), kRomio));
  EXPECT_GT(small.at(Way::alone), 100 * small.at(Way::two_phase));
  const auto large = by_way(costs(kNodes, demand(16, 4, 8 << 20, 128 << 20, 8 << 20), kRomio));
  EXPECT_LT(large.at(Way::alone), 2 * large.at(Way::two_phase));
}

}  // namespace
}  // namespace haichi::mpiio
