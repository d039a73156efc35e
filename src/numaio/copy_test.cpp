#include "numaio/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace haichi::numaio {
namespace {

TEST(CopyKernels, AllCopyAllBytesAndNoMore) {
  std::vector<std::byte> from(5000), to(5200);
  std::mt19937 draw(3);
  for (std::byte& each : from) each = std::byte(draw());
  for (const CopyKernel& kernel : copy_kernels()) {
    for (int i = 0; i < 500; ++i) {
      const size_t bytes = draw() % 4700, begin = draw() % 200, end = draw() % 100;
      std::fill(to.begin(), to.end(), std::byte{0x5a});
      kernel.copy(to.data() + begin, from.data() + end, bytes);
      ASSERT_TRUE(std::equal(from.begin() + long(end), from.begin() + long(end + bytes),
                             to.begin() + long(begin)))
          << kernel.name;
      ASSERT_EQ(std::count(to.begin(), to.begin() + long(begin), std::byte{0x5a}), long(begin));
      ASSERT_EQ(std::count(to.begin() + long(begin + bytes), to.end(), std::byte{0x5a}),
                long(to.size() - begin - bytes))
          << kernel.name;
    }
  }
}

TEST(CopyKernels, OneIsTheFastest) {
  EXPECT_EQ(&fastest_kernel(), &fastest_kernel());
  EXPECT_THAT(copy_kernels(),
              testing::Contains(testing::Field(&CopyKernel::name, fastest_kernel().name)));
}

}  // namespace
}  // namespace haichi::numaio
