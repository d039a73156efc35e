#include "gasfs/plan/btio.h"

#include <gtest/gtest.h>

#include <set>

namespace haichi::gasfs {
namespace {

constexpr Layout k64KiB{.stripe = 65536};
constexpr Layout k1MiB{.stripe = 1 << 20};

BtioJob job(const char* name, uint32_t nodes, uint32_t per_node, bool blocks = true) {
  return {*btio_class(name), nodes, per_node, blocks};
}

TEST(Btio, EachRecordIsWrittenOnceBySomebody) {
  for (const uint32_t ranks : {1u, 4u, 9u, 25u}) {  // 12 is not a multiple of 5
    const BtioJob made = job("S", 1, ranks);
    std::set<uint64_t> seen;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      for (const uint64_t offset : btio_records(made, rank, 3))
        EXPECT_TRUE(seen.insert(offset).second);
    EXPECT_EQ(seen.size(), 12u * 12 * 12);
    EXPECT_EQ(*seen.begin(), 3u * 12 * 12 * 12 * kBtioRecord);
  }
}

TEST(Btio, RefusesWhatBtDoesNotRun) {
  EXPECT_FALSE(check(job("S", 1, 3)));
  EXPECT_FALSE(check(job("S", 0, 4)));
  EXPECT_FALSE(check(job("S", 1, 169)));
  EXPECT_TRUE(check(job("S", 1, 144)));
  EXPECT_FALSE(btio_class("X"));
}

TEST(Btio, UnarrangedCountsAreThePapers) {
  EXPECT_EQ(count_btio(job("S", 1, 4), k64KiB, Gathering::none).requests, 20'746u);
  EXPECT_EQ(count_btio(job("W", 1, 4), k64KiB, Gathering::none).requests, 553'230u);
  const RequestCounts a = count_btio(job("A", 4, 4), k64KiB, Gathering::none);
  EXPECT_EQ(a.records, 10'485'760u);
  EXPECT_EQ(a.requests, 10'490'880u) << "table 3, to the last digit";
}

TEST(Btio, ANodeThatHasAllWritesStripes) {
  EXPECT_EQ(count_btio(job("S", 1, 4), k64KiB, Gathering::snapshot).requests, 24u);
  EXPECT_EQ(count_btio(job("S", 1, 4), k64KiB, Gathering::whole).requests, 13u);
  EXPECT_EQ(count_btio(job("W", 1, 4), k64KiB, Gathering::snapshot).requests, 375u);
  EXPECT_EQ(count_btio(job("W", 1, 4), k64KiB, Gathering::whole).requests, 338u);
}

TEST(Btio, BlocksOfRanksHaveWholeLines) {
  EXPECT_EQ(count_btio(job("W", 4, 4), k64KiB, Gathering::snapshot).requests, 4'170u);
  EXPECT_EQ(count_btio(job("A", 4, 4), k64KiB, Gathering::snapshot).requests, 15'360u);
  EXPECT_EQ(count_btio(job("A", 4, 4), k1MiB, Gathering::snapshot).requests, 10'560u);
  EXPECT_EQ(count_btio(job("A", 8, 2), k64KiB, Gathering::snapshot).requests, 337'920u);
}

TEST(Btio, RanksDealtOutShareNothingOnANode) {
  EXPECT_EQ(count_btio(job("A", 8, 2, false), k64KiB, Gathering::snapshot).requests, 660'480u);
}

TEST(Btio, CountsSeeks) {
  const RequestCounts arranged = count_btio(job("S", 1, 4), k64KiB, Gathering::whole);
  EXPECT_EQ(arranged.seeks, 1u) << "one server, one file from its beginning to its end";
  const RequestCounts alone = count_btio(job("S", 1, 1), k64KiB, Gathering::none);
  EXPECT_EQ(alone.seeks, 1u) << "one rank writes in order";
  EXPECT_GT(count_btio(job("S", 1, 4), k64KiB, Gathering::none).seeks, 10'000u);
}

}  // namespace
}  // namespace haichi::gasfs
