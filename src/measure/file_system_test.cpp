#include "measure/file_system.h"

#include <gtest/gtest.h>

namespace haichi::measure {
namespace {

constexpr const char* kMounts =
    "/dev/root / ext4 rw 0 0\n"
    "proc /proc proc rw 0 0\n"
    "server:/home /home nfs4 rw 0 0\n"
    "mds@tcp:/scratch /home/fast lustre rw 0 0\n"
    "/dev/sdb /mnt/two\\040words xfs rw 0 0\n"
    "none /tmp ramfs rw 0 0\n"
    "none /tmp tmpfs rw 0 0\n";

TEST(FileSystem, IsThatOfTheDeepestMount) {
  EXPECT_EQ(file_system_of("/var/log", kMounts), "ext4");
  EXPECT_EQ(file_system_of("/home", kMounts), "nfs4");
  EXPECT_EQ(file_system_of("/home/fast/run", kMounts), "lustre");
  EXPECT_EQ(file_system_of("/mnt/two words/x", kMounts), "xfs");
}

TEST(FileSystem, IsNotThatOfAFolderWithALongerName) {
  EXPECT_EQ(file_system_of("/home/faster", kMounts), "nfs4");
  EXPECT_EQ(file_system_of("/homestead", kMounts), "ext4");
}

TEST(FileSystem, IsTheOneOnTopOfAnother) { EXPECT_EQ(file_system_of("/tmp/x", kMounts), "tmpfs"); }

TEST(FileSystem, MayBeUnknown) {
  EXPECT_EQ(file_system_of("/x", ""), "");
  EXPECT_EQ(file_system_of("relative", kMounts), "");
  EXPECT_EQ(file_system_of("/x", "damaged\nline"), "");
}

}  // namespace
}  // namespace haichi::measure
