#include "numaio/page_map.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace haichi::numaio {
namespace {

using testing::ElementsAre;

LookUp pages_by(const std::function<int(int64_t)>& node_of) {
  return [=](std::span<const int64_t> pages, std::span<int> nodes) -> Status {
    for (size_t i = 0; i < pages.size(); ++i) nodes[i] = node_of(pages[i]);
    return {};
  };
}

TEST(PageMap, BordersOfBlocksAreExact) {
  const auto blocks = pages_by([](int64_t page) { return page < 2048 ? 0 : page < 5001 ? 1 : 3; });
  const auto map = map_pages(8192, blocks);
  ASSERT_TRUE(map);
  EXPECT_THAT(map->segments,
              ElementsAre(Segment{0, 2048, 0}, Segment{2048, 2953, 1}, Segment{5001, 3191, 3}));
  EXPECT_LT(map->looked_up, 90);
}

TEST(PageMap, PagesInTurnsAreInterleavedWhateverTheirNumber) {
  for (const int nodes : {2, 3, 4, 8, 16}) {
    for (const int64_t pages : {1024, 4096, 65536, 65537}) {
      const auto map = map_pages(pages, pages_by([=](int64_t page) { return int(page % nodes); }));
      ASSERT_TRUE(map);
      EXPECT_THAT(map->segments, ElementsAre(Segment{0, pages, kInterleaved})) << nodes;
      EXPECT_EQ(map->looked_up, kSamples);
    }
  }
}

TEST(PageMap, FewPagesAreAllAskedFor) {
  const auto map = map_pages(5, pages_by([](int64_t page) { return page == 2 ? 1 : 0; }));
  ASSERT_TRUE(map);
  EXPECT_THAT(map->segments, ElementsAre(Segment{0, 2, 0}, Segment{2, 1, 1}, Segment{3, 2, 0}));
}

TEST(PageMap, UntouchedPagesAreToldApart) {
  const auto half = pages_by([](int64_t page) { return page < 77 ? 0 : int(kUntouched); });
  const auto map = map_pages(1000, half);
  ASSERT_TRUE(map);
  EXPECT_THAT(map->segments, ElementsAre(Segment{0, 77, 0}, Segment{77, 923, kUntouched}));
}

TEST(PageMap, WhatIsFoundBetweenTwoSamplesMakesABorderToo) {
  // Between samples of node 0 and node 2 lies a block of node 1.
  const auto three = pages_by([](int64_t page) { return page < 500 ? 0 : page < 508 ? 1 : 2; });
  const auto map = map_pages(1000, three, 2);
  ASSERT_TRUE(map);
  EXPECT_THAT(map->segments,
              ElementsAre(Segment{0, 500, 0}, Segment{500, 8, 1}, Segment{508, 492, 2}));
}

TEST(PageMap, NoPagesAndNoAnswer) {
  const LookUp refuses = [](auto, auto) -> Status { return fail(EPERM, "no"); };
  EXPECT_TRUE(map_pages(0, refuses)->segments.empty());
  EXPECT_EQ(map_pages(10, refuses).error().code, EPERM);
}

}  // namespace
}  // namespace haichi::numaio
