#include "mpiio/storage/own_part.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "support/strided_access.h"

namespace haichi::mpiio {
namespace {

struct Case : test::StridedAccess {
  using StridedAccess::StridedAccess;

  OwnPart part() {
    return {.own = &access,
            .memory = memory.data(),
            .memory_pattern = memory_pattern,
            .file = {&file, 3, true},
            .bounce = bounce};
  }
};

TEST(OwnPart, WritesEachByteToItsPlaceAndNothingElse) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Case c(seed);
    for (size_t i = 0; i < c.memory.size(); ++i) c.memory[i] = std::byte(i % 250 + 1);
    ASSERT_TRUE(write_pieces(c.part()));
    std::vector<std::byte> expected;
    for (const auto& [offset, at] : c.pairs()) {
      if (int64_t(expected.size()) <= offset) expected.resize(size_t(offset) + 1);
      expected[size_t(offset)] = c.memory[size_t(at)];
    }
    ASSERT_EQ(c.file.bytes, expected) << seed;
  }
}

TEST(OwnPart, ReadsEachByteAndTouchesNoOther) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Case c(seed);
    for (int64_t i = 0; i < 1000; ++i) c.file.bytes.push_back(std::byte(i % 250 + 1));
    c.access.clip(700);
    auto expected = c.memory;
    for (const auto& [offset, at] : c.pairs()) expected[size_t(at)] = c.file.bytes[size_t(offset)];
    ASSERT_TRUE(read_pieces(c.part()));
    ASSERT_EQ(c.memory, expected) << seed;
  }
}

// Blocks of the file that touch, from places of memory that do not: the tiles of a view, say.
TEST(OwnPart, WhatIsTogetherInTheFileIsWrittenAtOnce) {
  Case c(3);
  c.view = {0, Pattern::sequence({{0, Pattern::block(4)}, {10, Pattern::block(6)}}), 16};
  c.access = Access(c.view, 0, 1000);
  c.memory_pattern = Pattern::loop(Pattern::block(5), 200, 7);
  c.memory.assign(size_t(c.memory_pattern->end()), std::byte{5});
  c.bounce.resize(1000);
  ASSERT_TRUE(write_pieces(c.part()));
  EXPECT_EQ(c.file.writes, 101);  // of 200 blocks
}

TEST(OwnPart, AFailureIsReportedAndWhatFitsIsKept) {
  Case c(7);
  c.view = {0, Pattern::block(10), 20};
  c.access = Access(c.view, 0, 100);
  c.memory_pattern = Pattern::block(100);
  c.memory.assign(100, std::byte{5});
  c.file.fail_from = 60;
  const Status done = write_pieces(c.part());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ENOSPC);
  EXPECT_EQ(c.file.bytes.size(), 50u);
  EXPECT_EQ(read_pieces(c.part()).error().code, EIO);
}

}  // namespace
}  // namespace haichi::mpiio
