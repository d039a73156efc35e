#include "record/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace haichi::record {
namespace {

Begun of(int64_t bytes, bool persistent = false) {
  Begun begun;
  begun.bytes = bytes;
  begun.persistent = persistent;
  return begun;
}

TEST(Requests, FollowsOneFromItsBeginToItsEnd) {
  Requests requests;
  Begun begun = of(8), found;
  EXPECT_FALSE(requests.complete(5, found));
  ASSERT_TRUE(requests.add(5, begun));
  EXPECT_EQ(begun.slot, 0);
  ASSERT_NE(requests.find(5), nullptr);
  ASSERT_TRUE(requests.complete(5, found));
  EXPECT_EQ(found.bytes, 8);
  EXPECT_EQ(requests.find(5), nullptr);
}

TEST(Requests, TakesTheOldestOfOneHandle) {
  Requests requests;
  for (const int64_t bytes : {1, 2, 3}) {
    Begun begun = of(bytes);
    ASSERT_TRUE(requests.add(77, begun));
    EXPECT_EQ(begun.slot, bytes - 1);
  }
  for (const int64_t bytes : {1, 2, 3}) {
    Begun found;
    ASSERT_TRUE(requests.complete(77, found));
    EXPECT_EQ(found.bytes, bytes);
  }
}

TEST(Requests, KeepsPersistentOnesUntilTheyAreFreed) {
  Requests requests;
  Begun begun = of(4, true), found;
  ASSERT_TRUE(requests.add(9, begun));
  EXPECT_FALSE(requests.complete(9, found)) << "it has not been started";
  for (int i = 0; i < 2; ++i) {
    ASSERT_NE(requests.start(9), nullptr);
    EXPECT_TRUE(requests.complete(9, found));
    EXPECT_EQ(found.bytes, 4);
    EXPECT_FALSE(requests.complete(9, found));
  }
  requests.forget(9);
  EXPECT_EQ(requests.start(9), nullptr);
}

TEST(Requests, GivesTheSmallestFreeSlot) {
  Requests requests;
  std::vector<Begun> begun(3);
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(requests.add(i + 1, begun[i]));
  Begun found, next;
  ASSERT_TRUE(requests.complete(2, found));
  EXPECT_EQ(found.slot, 1);
  ASSERT_TRUE(requests.add(4, next));
  EXPECT_EQ(next.slot, 1);
}

TEST(Requests, RefusesMoreThanItHasRoomFor) {
  Requests requests;
  Begun begun, found;
  int added = 0;
  while (requests.add(uint64_t(added), begun)) ++added;
  EXPECT_EQ(added, 65'536);
  ASSERT_TRUE(requests.complete(123, found));
  EXPECT_TRUE(requests.add(1'000'000, begun));
  EXPECT_EQ(begun.slot, found.slot);
}

TEST(Requests, AgreesWithAListInRandomOrders) {
  Requests requests;
  std::vector<std::pair<uint64_t, int64_t>> model;  // oldest first
  std::mt19937 random(7);
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t handle = random() % 64;
    if (random() % 2 == 0 && model.size() < 300) {
      Begun begun = of(step);
      ASSERT_TRUE(requests.add(handle, begun));
      model.emplace_back(handle, step);
      continue;
    }
    const auto oldest = std::find_if(model.begin(), model.end(),
                                     [&](const auto& each) { return each.first == handle; });
    Begun found;
    ASSERT_EQ(requests.complete(handle, found), oldest != model.end());
    if (oldest == model.end()) continue;
    EXPECT_EQ(found.bytes, oldest->second);
    model.erase(oldest);
  }
}

}  // namespace
}  // namespace haichi::record
