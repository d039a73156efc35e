// The mount on files in memory, as programs see it: what only the kernel's side can show. That it
// does what tmpfs does is shown by tests/gasfs/.
#include "gasfs/fuse/mount.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>

#include "gasfs/arena/attach.h"
#include "gasfs/files/memory_files.h"
#include "gasfs/fuse/face.h"
#include "gasfs/fuse/kernel_words.h"

namespace haichi::gasfs::fuse {
namespace {

/// Counts what it is told.
class Counting : public Beside {
 public:
  void settle() override { ++settled; }
  void opened(Inode) override { ++open; }
  int attach(Inode, Handle, bool writes, std::span<char> reply) override {
    reply[0] = writes ? 'w' : 'r';
    return 0;
  }
  int tell_socket(std::span<char> reply) override {
    reply[0] = 's';
    return 0;
  }
  void changing(Inode) override {
    ++changes;
    ++under_way;
  }
  void changed(Inode) override { --under_way; }
  int take_error(Handle) override { return error.exchange(0); }
  void forget(Inode, Handle) override { --open; }
  void mapped(Inode) override { ++pages; }

  std::atomic<int> settled{0}, open{0}, pages{0}, error{0}, changes{0}, under_way{0};
};

class MountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/dev/fuse", R_OK | W_OK) != 0) GTEST_SKIP() << "/dev/fuse can't be used here";
    char name[] = "/tmp/haichi-mount-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    where = name;
    auto made = Mount::make(where, files, &beside, 4);
    ASSERT_TRUE(made) << made.error().text;
    mount = std::move(*made);
  }
  void TearDown() override {
    mount.reset();
    if (!where.empty()) {
      EXPECT_EQ(rmdir(where.c_str()), 0) << where << " is still mounted";
    }
  }
  std::string path(const char* name) const { return where + "/" + name; }

  MemoryFiles files;
  Counting beside;
  std::string where;
  std::unique_ptr<Mount> mount;
};

TEST_F(MountTest, WhatIsWrittenIsInTheFiles) {
  std::ofstream(path("a")) << "hello";
  const auto found = files.lookup(kRoot, "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, 5u);
  std::string text;
  std::getline(std::ifstream(path("a")), text);
  EXPECT_EQ(text, "hello");
  EXPECT_GT(beside.settled, 5);
  EXPECT_EQ(beside.pages, 0);  // nobody mapped it
}

TEST_F(MountTest, ClosingTellsOfAnErrorBehindTheProgramsBack) {
  const int fd = open(path("a").c_str(), O_CREAT | O_WRONLY, 0600);
  files.fail_writes(EIO);
  EXPECT_EQ(write(fd, "x", 1), 1);
  EXPECT_EQ(close(fd), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(MountTest, ClosingTellsOfAnErrorOfTheOtherFace) {
  const int fd = open(path("a").c_str(), O_CREAT | O_WRONLY, 0600);
  EXPECT_EQ(beside.open, 1);
  beside.error = ENOSPC;
  EXPECT_EQ(fsync(fd), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(close(fd), 0);
  for (int i = 0; i < 1000 && beside.open != 0; ++i) usleep(1000);
  EXPECT_EQ(beside.open, 0);  // the kernel releases it behind close(2)
}

TEST_F(MountTest, SharedMappingsAreCoherentWithReadsAndWrites) {
  const int fd = open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  if (!mapping_allowed()) GTEST_SKIP() << "this kernel maps no files that bypass its page cache";
  auto* const map =
      static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(map, MAP_FAILED);
  EXPECT_EQ(map[5000], 0);
  EXPECT_GT(beside.pages, 0);
  EXPECT_EQ(pwrite(fd, "written", 7, 5000), 7);
  EXPECT_EQ(std::string(map + 5000, 7), "written");
  memcpy(map + 100, "mapped", 6);
  char back[6];
  EXPECT_EQ(pread(fd, back, 6, 100), 6);
  EXPECT_EQ(std::string(back, 6), "mapped");
  EXPECT_EQ(munmap(map, 8192), 0);
  EXPECT_EQ(close(fd), 0);
}

TEST_F(MountTest, WritingTakesSetUserIdOff) {
  const int fd = open(path("a").c_str(), O_CREAT | O_RDWR, 0777);
  ASSERT_EQ(fchmod(fd, 06777), 0);
  ASSERT_EQ(fchown(fd, 1, 1), 0);
  struct stat about{};
  ASSERT_EQ(fstat(fd, &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0777u);  // as any file system
  close(fd);
}

TEST_F(MountTest, TheOtherFaceIsAskedByIoctl) {
  const int fd = open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  arena::Attachment attachment;
  EXPECT_EQ(ioctl(fd, arena::kAttach, &attachment), 0);
  EXPECT_EQ(attachment.magic & 0xff, unsigned('r'));
  EXPECT_EQ(ioctl(fd, arena::kAttachToWrite, &attachment), 0);
  EXPECT_EQ(attachment.magic & 0xff, unsigned('w'));
  EXPECT_EQ(ioctl(fd, _IOR('h', 0xa4, char[128]), &attachment), -1);
  EXPECT_EQ(errno, ENOTTY);
  close(fd);
  const int folder = open(where.c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(ioctl(folder, arena::kFindSocket, &attachment), 0);
  EXPECT_EQ(attachment.magic & 0xff, unsigned('s'));
  EXPECT_EQ(ioctl(folder, arena::kAttach, &attachment), -1);
  EXPECT_EQ(errno, ENOTTY);
  close(folder);
}

TEST_F(MountTest, TellsTheOtherFaceOfAllThatChangesBytes) {
  const int fd = open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(write(fd, "hello", 5), 5);
  EXPECT_EQ(beside.changes, 1);
  EXPECT_EQ(ftruncate(fd, 3), 0);
  EXPECT_EQ(beside.changes, 2);
  EXPECT_EQ(posix_fallocate(fd, 0, 100), 0);
  EXPECT_GE(beside.changes, 3);
  const int before = beside.changes;
  close(open(path("a").c_str(), O_RDWR | O_TRUNC));
  EXPECT_EQ(beside.changes, before + 1);
  const int copy = open(path("b").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_EQ(pwrite(fd, "hello", 5, 0), 5);
  off_t from = 0;
  EXPECT_EQ(copy_file_range(fd, &from, copy, nullptr, 5, 0), 5);
  EXPECT_EQ(beside.changes, before + 3);
  char text[5];
  EXPECT_EQ(pread(copy, text, 5, 0), 5);
  EXPECT_EQ(fchmod(copy, 0644), 0);
  EXPECT_EQ(beside.changes, before + 3);
  // `changed` is called behind the answer.
  for (int i = 0; i < 1000 && beside.under_way != 0; ++i) usleep(1000);
  EXPECT_EQ(beside.under_way, 0);
  close(copy);
  close(fd);
}

TEST_F(MountTest, TellsOfAFolderAndAFifoThatAreGone) {
  ASSERT_EQ(mkdir(path("d").c_str(), 0751), 0);
  ASSERT_EQ(mkfifo(path("f").c_str(), 0640), 0);
  const int folder = open(path("d").c_str(), O_RDONLY | O_DIRECTORY);
  const int fifo = open(path("f").c_str(), O_RDWR);
  ASSERT_TRUE(folder >= 0 && fifo >= 0);
  // Past the kernel, as another node does it.
  ASSERT_TRUE(files.rmdir(kRoot, "d"));
  ASSERT_TRUE(files.unlink(kRoot, "f"));
  struct stat about;
  ASSERT_EQ(fstat(folder, &about), 0);
  EXPECT_EQ(about.st_mode, mode_t{S_IFDIR | 0751});
  EXPECT_EQ(about.st_nlink, 0u);
  EXPECT_EQ(openat(folder, "new", O_CREAT | O_WRONLY, 0600), -1);
  EXPECT_EQ(errno, ENOENT);
  ASSERT_EQ(fstat(fifo, &about), 0);
  EXPECT_EQ(about.st_mode, mode_t{S_IFIFO | 0640});
  EXPECT_EQ(about.st_nlink, 0u);
  close(folder);
  close(fifo);
}

TEST_F(MountTest, GoesWhileAFileIsOpen) {
  const int fd = open(path("a").c_str(), O_CREAT | O_RDWR, 0600);
  mount.reset();
  EXPECT_EQ(write(fd, "x", 1), -1);
  EXPECT_EQ(errno, ENOTCONN);
  EXPECT_EQ(close(fd), -1);
}

TEST(Mount, SaysWhyItCannot) {
  MemoryFiles files;
  const auto made = Mount::make("/nobody/has/this", files, nullptr);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text.find("/nobody/has/this"), std::string::npos);
}

TEST(AsStat, ProgramsSeeNoChangeInWhatIsToldAgain) {
  Attributes attributes;
  attributes.modified = attributes.changed = {100, 5000};
  const auto shown = [&](timespec changed) {
    attributes.changed = changed;
    const struct stat about = as_stat(attributes);
    return std::pair(about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
  };
  for (const long again : {0, 1, 2, 40})
    EXPECT_EQ(shown({100, 5000 + again}), std::pair(100L, 5000L));
  EXPECT_EQ(shown({100, 6001}), std::pair(100L, 6001L));
  EXPECT_EQ(shown({100, 4999}), std::pair(100L, 4999L));
  EXPECT_EQ(shown({101, 5000}), std::pair(101L, 5000L));
}

}  // namespace
}  // namespace haichi::gasfs::fuse
