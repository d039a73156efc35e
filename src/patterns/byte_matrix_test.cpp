#include "patterns/byte_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::patterns {
namespace {

using ::testing::HasSubstr;

TEST(ByteMatrix, ReadsNumbersHoweverTheyAreApart) {
  const auto matrix =
      ByteMatrix::parse("# who sends what\n0, 1,2\n\n3;4;5  # rank 1\n\t6 7\t8\r\n", 3);
  ASSERT_TRUE(matrix) << matrix.error().text;
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) EXPECT_EQ(matrix->bytes(from, to), from * 3 + to);
}

TEST(ByteMatrix, NamesTheLineThatIsWrong) {
  const auto error = [](std::string_view text, int ranks) {
    const auto matrix = ByteMatrix::parse(text, ranks);
    return matrix ? "" : matrix.error().text;
  };
  EXPECT_EQ(error("1 2\n3 x\n", 2), "line 2: x is no number of bytes");
  EXPECT_EQ(error("1 2\n3 -4\n", 2), "line 2: -4 is no number of bytes");
  EXPECT_EQ(error("1 2\n3 1.5\n", 2), "line 2: 1.5 is no number of bytes");
  EXPECT_EQ(error("1 2\n\n3 4 5\n", 2), "line 3: 3 numbers for 2 ranks");
  EXPECT_EQ(error("1 2\n", 2), "1 lines for 2 ranks");
  EXPECT_EQ(error("", 2), "0 lines for 2 ranks");
  EXPECT_THAT(error("1 99999999999999999999", 2), HasSubstr("no number of bytes"));
}

}  // namespace
}  // namespace haichi::patterns
