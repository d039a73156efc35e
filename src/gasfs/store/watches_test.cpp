#include "gasfs/store/watches.h"

#include <gtest/gtest.h>

#include <vector>

namespace haichi::gasfs {
namespace {

constexpr int64_t kBegun = 1'000'000'000, kLater = kBegun + kWatchNs;
const std::vector<Inode> kFile{7}, kPath{1, 3, 7}, kOther{8};

TEST(Watches, OthersWaitUntilTheWatchIsOver) {
  Watches watches(kBegun);
  ASSERT_TRUE(watches.grant(1, kPath, kLater));
  EXPECT_EQ(watches.left(2, kFile, kLater + 10), kWatchNs - 10);
  EXPECT_EQ(watches.left(2, kOther, kLater + 10), 0);
  EXPECT_EQ(watches.left(1, kFile, kLater + 10), 0) << "its own change";
  EXPECT_EQ(watches.left(2, kFile, kLater + kWatchNs), 0);
}

TEST(Watches, EachOfTwoSessionsWaitsForTheOther) {
  Watches watches(kBegun);
  ASSERT_TRUE(watches.grant(1, kFile, kLater));
  ASSERT_TRUE(watches.grant(2, kFile, kLater + 5));
  EXPECT_EQ(watches.left(1, kFile, kLater + 5), kWatchNs);
  EXPECT_EQ(watches.left(2, kFile, kLater + 5), kWatchNs);
}

TEST(Watches, WhatIsWaitedForIsNotGrantedForAWhile) {
  Watches watches(kBegun);
  ASSERT_TRUE(watches.grant(1, kFile, kLater));
  ASSERT_GT(watches.left(2, kFile, kLater + 1), 0);
  EXPECT_FALSE(watches.grant(1, kPath, kLater + 2));
  EXPECT_FALSE(watches.grant(3, kFile, kLater + kWatchNs));
  EXPECT_TRUE(watches.grant(1, kFile, kLater + 1 + kWatchNs * Watches::kPause));
}

TEST(Watches, AServerThatBeginsWaitsForWhatItMayHaveGrantedBefore) {
  Watches watches(kBegun);
  EXPECT_EQ(watches.left(1, kFile, kBegun + 1), kWatchNs - 1);
  EXPECT_EQ(watches.left(1, kFile, kLater), 0);
}

TEST(Watches, OldOnesAreForgotten) {
  Watches watches(kBegun);
  int64_t now = kLater;
  for (Inode inode = 1; inode <= 3 * Watches::kMost; ++inode, now += 1'000'000) {
    const std::vector<Inode> one{inode};
    ASSERT_TRUE(watches.grant(1, one, now)) << inode;
  }
}

TEST(Watches, NoMoreThanSomeAreGrantedAtOnce) {
  Watches watches(kBegun);
  size_t granted = 0;
  for (Inode inode = 1; inode <= 2 * Watches::kMost; ++inode) {
    const std::vector<Inode> one{inode};
    granted += watches.grant(1, one, kLater);
  }
  EXPECT_EQ(granted, Watches::kMost);
  EXPECT_FALSE(watches.grant(1, {}, kLater)) << "of nothing";
}

}  // namespace
}  // namespace haichi::gasfs
