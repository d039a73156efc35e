#include "mpiio/ways/way.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/strided_demand.h"

namespace haichi::mpiio {
namespace {

constexpr LibraryFileIo kRomio{.alone_if_apart = true}, kOmpio{.alone_if_apart = false};

Way way(const placement::Placement& placement, const Demand& wanted,
        const LibraryFileIo& library = kRomio, Direction direction = Direction::write,
        const TwoPhaseOptions& options = {}) {
  return choose_way(placement, options, direction, wanted, library, true).way;
}

const auto kNode = placement::block(1, 4), kNodes = placement::block(4, 4);

TEST(Way, PartsThatLieApartAreAccessedAlone) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    EXPECT_EQ(way(kNodes, demand(16, 1, 47'008, 0, 47'008), kRomio, direction), Way::alone);
    EXPECT_EQ(way(kNodes, demand(16, 1, 256 << 10, 0, 256 << 10), kOmpio, direction), Way::alone);
    EXPECT_EQ(way(kNode, demand(4, 1000, 64, 128, 128'000), kRomio, direction), Way::alone);
  }
}

TEST(Way, PiecesThatInterleaveAreExchanged) {
  EXPECT_EQ(way(kNodes, demand(16, 1000, 3744, 64'000, 4000)), Way::two_phase);
  EXPECT_EQ(way(kNode, demand(4, 1000, 3744, 16'000, 4000)), Way::two_phase);
}

TEST(Way, LargePiecesAreNotEvenIfTheyInterleave) {
  EXPECT_EQ(way(kNodes, demand(16, 10, 1 << 20, 16 << 20, 1 << 20)), Way::alone);
  EXPECT_EQ(way(kNode, demand(4, 100, 16 << 10, 64 << 10, 16 << 10)), Way::alone);
}

TEST(Way, FewWritesOfANodeAreNot) {
  EXPECT_EQ(way(kNode, demand(4, 12, 512, 8192, 2048), kOmpio), Way::alone);
  EXPECT_EQ(way(kNode, demand(4, 13, 512, 8192, 2048), kOmpio), Way::two_phase);
  EXPECT_EQ(way(placement::block(1, 2), demand(2, 8, 4096, 8192, 4096), kOmpio), Way::alone);
  EXPECT_EQ(way(placement::block(1, 2), demand(2, 9, 4096, 8192, 4096), kOmpio), Way::two_phase);
  EXPECT_EQ(way(kNodes, demand(16, 1, 512, 16'384, 16'384), kOmpio), Way::alone);
}

TEST(Way, LittleOfAPairIsTheLibrarysWhereItLetsBothGoAlone) {
  constexpr LibraryFileIo kPairs{.pairs_alone = true};
  const LibraryFileIo whole = kPairs.in_access(false);
  const auto pair = placement::block(1, 2);
  const Demand little = demand(2, 8, 64, 128, 64), many = demand(2, 9, 64, 128, 64);
  EXPECT_EQ(way(pair, little, whole), Way::library);
  EXPECT_EQ(way(pair, many, whole), Way::two_phase) << "each written piece is a system call";
  EXPECT_EQ(way(pair, many, whole, Direction::read), Way::library);
  EXPECT_EQ(way(pair, little, kPairs.in_access(true)), Way::alone) << "split";
  EXPECT_EQ(way(kNode, demand(4, 4, 64, 256, 64), whole), Way::alone);
  EXPECT_EQ(way(pair, demand(2, 1, 32 << 10, 0, 32 << 10), whole), Way::alone) << "not little";
}

TEST(Way, LittleIsTheLibrarysWhereItDoesTheSame) {
  const Demand little = demand(4, 1, 64, 0, 64);
  EXPECT_EQ(way(kNode, little), Way::library);
  EXPECT_EQ(way(kNode, little, kOmpio), Way::alone);
  EXPECT_EQ(choose_way(kNode, {}, Direction::write, little, kRomio, false).way, Way::alone);
}

TEST(Way, ASplitAccessIsEachRanksWhereTheLibraryLeavesItToThem) {
  constexpr LibraryFileIo kSplits{.splits_alone = true};
  const Demand interleaved = demand(16, 1000, 3744, 64'000, 4000);
  EXPECT_EQ(way(kNodes, interleaved, kSplits.in_access(true)), Way::alone);
  EXPECT_EQ(way(kNodes, interleaved, kSplits.in_access(false)), Way::two_phase);
  EXPECT_EQ(way(kNode, demand(4, 1000, 3744, 16'000, 4000), kSplits), Way::two_phase);
  EXPECT_EQ(choose_way(kNodes, {}, Direction::write, interleaved, kSplits, false).way,
            Way::two_phase);
  TwoPhaseOptions asked;
  asked.aggregators = 2;
  // Hints ask the library for nothing there: it has no aggregators in split accesses.
  EXPECT_EQ(way(kNodes, interleaved, kSplits, Direction::write, asked), Way::alone);
  EXPECT_EQ(choose_way(kNodes, asked, Direction::write, interleaved, kSplits, false).way,
            Way::two_phase);
}

TEST(Way, AskedForIsDone) {
  TwoPhaseOptions asked;
  asked.aggregators = 2;
  EXPECT_EQ(way(kNodes, demand(16, 1, 256 << 10, 0, 256 << 10), kRomio, Direction::write, asked),
            Way::two_phase);
}

// PnetCDF's test large_var: 320 bytes over 17 GB.
TEST(Way, PiecesFarApartAreAccessedAlone) {
  for (const auto& placement : {kNode, kNodes}) {
    const int ranks = placement.ranks();
    EXPECT_EQ(way(placement, demand(ranks, 2, 20, int64_t{17} << 30, 20), kOmpio), Way::alone);
    TwoPhaseOptions enabled;  // romio_cb_write
    enabled.may_go_direct = false;
    TwoPhaseOptions one;  // cb_nodes
    one.aggregators = 1;
    for (TwoPhaseOptions& asked : {std::ref(enabled), std::ref(one)}) {
      const Demand far = demand(ranks, 2, 20, int64_t{17} << 30, 20);
      EXPECT_EQ(way(placement, far, kRomio, Direction::write, asked), Way::two_phase);
      asked.knows_parts = false;  // 130,000 cycles with nothing in them
      EXPECT_EQ(way(placement, far, kRomio, Direction::write, asked), Way::alone);
    }
  }
}

// 500 pieces of each rank, 1 MiB apart: as the parts are cut, and not their range of 2 GB.
TEST(Way, PiecesFarApartAreExchangedWhereTheyLieTogether) {
  const Demand together = demand(16, 500, 64, 16 << 20, 64);
  const Demand apart = demand(16, 500, 64, 16 << 20, 1 << 20);
  for (const auto& placement : {placement::block(1, 16), kNodes}) {
    EXPECT_EQ(way(placement, together), Way::two_phase);
    EXPECT_EQ(way(placement, apart), Way::alone);
    EXPECT_EQ(choose_way(placement, {}, Direction::write, apart, kRomio, true).reason,
              WayReason::far_apart);
  }
  EXPECT_EQ(way(kNode, demand(4, 500, 64, 4 << 20, 1 << 20)), Way::alone);
}

TEST(Way, WhereNobodyKnowsThePartsEmptyCyclesCount) {
  TwoPhaseOptions by_nodes;
  by_nodes.knows_parts = false;
  EXPECT_EQ(way(kNodes, demand(16, 500, 64, 1 << 30, 64), kRomio, Direction::write, by_nodes),
            Way::alone);
  EXPECT_EQ(way(kNodes, demand(16, 500, 64, 1 << 30, 64)), Way::two_phase);
}

TEST(Way, WithoutDescriptorsThereIsAnExchange) {
  Demand wanted = demand(16, 1, 256 << 10, 0, 256 << 10);
  wanted.all_open = false;
  EXPECT_EQ(way(kNodes, wanted), Way::two_phase);
}

TEST(Way, NobodyWantsAnything) { EXPECT_EQ(way(kNodes, Demand{}), Way::alone); }

TEST(Way, EveryChoiceHasAReasonInWords) {
  for (int reason = 0; reason <= int(WayReason::interleave); ++reason)
    EXPECT_FALSE(text_of({Way::alone, WayReason(reason)}, kNodes, demand(4, 1, 64, 0, 64)).empty());
}

}  // namespace
}  // namespace haichi::mpiio
