#include "mpiio/regions/pattern_pool.h"

#include <gtest/gtest.h>

namespace haichi::mpiio {
namespace {

std::vector<std::byte> strided(int64_t size) {
  return Pattern::loop(Pattern::block(size), 10, 1000)->encode();
}

TEST(PatternPool, WhatIsTheSameIsOneObject) {
  PatternPool pool;
  const auto first = pool.decode(strided(8)), other = pool.decode(strided(16));
  ASSERT_TRUE(first && other);
  EXPECT_EQ(*pool.decode(strided(8)), *first);
  EXPECT_EQ(*pool.decode(strided(16)), *other);
  EXPECT_NE(*first, *other);
  EXPECT_EQ((*first)->encode(), strided(8));
}

TEST(PatternPool, FewAreKept) {
  PatternPool pool;
  const auto first = pool.decode(strided(1));
  for (int64_t size = 2; size < 40; ++size) ASSERT_TRUE(pool.decode(strided(size)));
  const auto again = pool.decode(strided(1));
  EXPECT_NE(*again, *first);
  EXPECT_EQ((*again)->encode(), (*first)->encode());
}

TEST(PatternPool, DamageIsNotKept) {
  PatternPool pool;
  const std::vector<std::byte> nothing;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(pool.decode(nothing));
}

}  // namespace
}  // namespace haichi::mpiio
