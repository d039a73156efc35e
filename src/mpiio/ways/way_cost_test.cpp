#include "mpiio/ways/way_cost.h"

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
        const auto of = by_way(found);
        EXPECT_EQ(of.size(), found.size());
        for (const Way way : {Way::library, Way::alone, Way::two_phase})
          EXPECT_TRUE(of.contains(way)) << name_of(way);
      }
}

TEST(WayCost, BalanceIsACandidateWhereANodeMayHaveMoreThanOthers) {
  const auto has_balance = [](const placement::Placement& placement, const Demand& wanted) {
    return by_way(costs(placement, wanted, kRomio)).contains(Way::balanced);
  };
  EXPECT_TRUE(has_balance(kNodes, demand(4, 1000, 3744, 16'000, 4000))) << "of 16 ranks";
  EXPECT_FALSE(has_balance(kNodes, demand(16, 1000, 3744, 64'000, 4000)));
  EXPECT_FALSE(has_balance(kNode, demand(1, 1000, 3744, 4000, 4000)));
  Demand one_large = demand(16, 1000, 3744, 64'000, 4000);
  one_large.most *= 2;
  EXPECT_TRUE(has_balance(kNodes, one_large));
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
