#include "base/copy_piece.h"

#include <gtest/gtest.h>

#include <vector>

namespace haichi {
namespace {

TEST(CopyPiece, CopiesEverySizeAndNothingBeside) {
  for (int64_t size = 0; size <= 200; ++size) {
    std::vector<std::byte> from(256), to(256, std::byte{0xee});
    for (size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7 + 1);
    std::vector<std::byte> expected = to;
    for (int64_t i = 0; i < size; ++i) expected[size_t(20 + i)] = from[size_t(3 + i)];
    copy_piece(to.data() + 20, from.data() + 3, size);
    EXPECT_EQ(to, expected) << size << " bytes";
  }
}

}  // namespace
}  // namespace haichi
