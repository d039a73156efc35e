#include "gasfs/files/memory_files.h"

#include "gasfs/files/conformance.h"

namespace haichi::gasfs {
namespace {

std::shared_ptr<NodeFiles> make_memory_files() { return std::make_shared<MemoryFiles>(); }

INSTANTIATE_TEST_SUITE_P(Memory, NodeFilesConformance, testing::Values(&make_memory_files));

TEST(MemoryFiles, TellsEachHandleOfAnErrorOnce) {
  MemoryFiles files;
  const auto a = files.create(kRoot, "a", {.mode = 0600}, O_RDWR);
  ASSERT_TRUE(a);
  const auto b = files.open(a->attributes.inode, O_RDWR);
  ASSERT_TRUE(b);
  const std::byte byte{};
  files.fail_writes(ENOSPC);
  EXPECT_EQ(files.write(a->handle, 0, {&byte, 1}, 1), 1u);
  files.fail_writes(0);
  EXPECT_EQ(files.write(a->handle, 0, {&byte, 1}, 1).error(), ENOSPC);
  EXPECT_EQ(files.flush(a->handle).error(), ENOSPC);
  EXPECT_TRUE(files.flush(a->handle));
  EXPECT_EQ(files.write(a->handle, 0, {&byte, 1}, 1), 1u);
  EXPECT_EQ(files.fsync(b->handle, true).error(), ENOSPC);
  EXPECT_TRUE(files.flush(b->handle));
  EXPECT_TRUE(files.flush(files.open(a->attributes.inode, O_RDONLY)->handle));
}

}  // namespace
}  // namespace haichi::gasfs
