#include "numaio/mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace haichi::numaio {
namespace {

TEST(Mappings, KindsArePickedOutOfTheText) {
  const auto found = parse_mappings(
      "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
      "Rss:                4096 kB\nAnonHugePages:      2048 kB\nVmFlags: rd wr mr mw me ac \n"
      "7f1000000000-7f1000001000 rw-s 00001000 00:06 42                 /dev/nvidia0\n"
      "Rss:                   0 kB\nVmFlags: rd wr sh pf io \n"
      "7f2000000000-7f2000001000 r--s 00000000 08:01 7                  /tmp/a b\nnonsense\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].begin, 0x7f0000000000u);
  EXPECT_EQ(found[0].huge_bytes, 2 << 20);
  EXPECT_FALSE(found[0].device);
  EXPECT_EQ(found[0].name, "");
  EXPECT_TRUE(found[1].device);
  EXPECT_EQ(found[2].name, "/tmp/a b");
  EXPECT_EQ(found[2].end, 0x7f2000001000u);
}

TEST(Mappings, OfThisProcess) {
  void* const memory = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto found = mappings_of(getpid());
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, testing::Contains(testing::Truly([&](const Mapping& each) {
    const auto at = reinterpret_cast<uint64_t>(memory);
    return each.begin <= at && at < each.end;
  })));
  munmap(memory, 1 << 20);
}

TEST(Mappings, OfNoProcess) { EXPECT_FALSE(mappings_of(1 << 30)); }

}  // namespace
}  // namespace haichi::numaio
