// What a node may count on while it tells its programs of names without asking.
#include <fcntl.h>

#include <set>

#include "gasfs/dispatcher/cluster_for_tests.h"
#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs {
namespace {

/// Notes what it is told of, and what is going on.
class Notes final : public ChangeWatcher {
 public:
  void changing(std::span<const Inode> inodes) override { note(inodes, 1); }
  void changed(std::span<const Inode> inodes) override { note(inodes, -1); }
  bool was_told(Inode inode) const {
    const std::lock_guard lock(mutex_);
    return told_.contains(inode);
  }
  int open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  void note(std::span<const Inode> inodes, int step) {
    const std::lock_guard lock(mutex_);
    told_.insert(inodes.begin(), inodes.end());
    if (inodes.empty()) told_.insert(0);
    open_ += step;
  }
  mutable std::mutex mutex_;
  std::set<Inode> told_;
  int open_ = 0;
};

Inode made(Dispatcher& files, std::string_view name) {
  const auto file = files.mknod(kRoot, name, {.mode = S_IFREG | 0600});
  EXPECT_TRUE(file);
  return file ? file->inode : 0;
}

TEST(Watching, AnotherNodesChangeComesWhenTheWatchIsOver) {
  ClusterForTests cluster(1);
  const auto one = cluster.dispatcher(), other = cluster.dispatcher();
  const std::vector<Inode> path{kRoot, made(*one, "f")};
  const int64_t until = one->watch(path);
  ASSERT_GT(until, lease_clock_ns());
  ASSERT_TRUE(other->setattr(path[1], {.mode = 0640}));
  EXPECT_GE(lease_clock_ns(), until);
  EXPECT_EQ(one->watch(path), 0) << "it was waited for just now";
}

TEST(Watching, TheEntriesOfAFolderAreWatchedToo) {
  ClusterForTests cluster(1);
  const auto one = cluster.dispatcher(), other = cluster.dispatcher();
  made(*one, "f");
  const std::vector<Inode> root{kRoot};
  const int64_t until = one->watch(root);
  ASSERT_GT(until, 0);
  ASSERT_TRUE(other->unlink(kRoot, "f"));
  EXPECT_GE(lease_clock_ns(), until);
}

/// A file that is reached by another name changes when that is removed.
TEST(Watching, SoIsAFileWhoseOtherNameGoes) {
  ClusterForTests cluster(1);
  const auto one = cluster.dispatcher(), other = cluster.dispatcher();
  const std::vector<Inode> file{made(*one, "f")};
  const auto folder = one->mkdir(kRoot, "d", {.mode = 0700});
  ASSERT_TRUE(folder);
  ASSERT_TRUE(one->link(file[0], folder->inode, "g"));
  const int64_t until = one->watch(file);
  ASSERT_GT(until, 0);
  ASSERT_TRUE(other->unlink(folder->inode, "g"));
  EXPECT_GE(lease_clock_ns(), until);
}

/// Bytes that another node has gathered become a size when they are closed.
TEST(Watching, SoIsTheSize) {
  ClusterForTests cluster(1);
  const auto one = cluster.dispatcher(), other = cluster.dispatcher();
  const std::vector<Inode> file{made(*one, "f")};
  const auto opened = other->open(file[0], O_WRONLY);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(other->write(opened->handle, 0, std::as_bytes(std::span("bytes")), 1));
  const int64_t until = one->watch(file);
  ASSERT_GT(until, 0);
  ASSERT_TRUE(other->flush(opened->handle));
  EXPECT_GE(lease_clock_ns(), until);
  EXPECT_EQ(one->getattr(file[0])->size, 6u);
  other->release(opened->handle);
}

TEST(Watching, TheNodesOwnChangesAreToldAndDoNotWait) {
  ClusterForTests cluster(1);
  const auto node = cluster.dispatcher();
  const auto notes = std::make_shared<Notes>();
  node->set_watcher(notes);
  const Inode file = made(*node, "f");
  EXPECT_TRUE(notes->was_told(kRoot));
  const std::vector<Inode> path{kRoot, file};
  for (int i = 0; i < 20; ++i) {
    ASSERT_GT(node->watch(path), 0) << i;
    ASSERT_TRUE(node->setattr(file, {.mode = mode_t(0600 + i)}));
  }
  EXPECT_TRUE(notes->was_told(file));
  const auto opened = node->open(file, O_WRONLY);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(node->write(opened->handle, 0, std::as_bytes(std::span("bytes")), 1));
  ASSERT_TRUE(node->flush(opened->handle));
  node->release(opened->handle);
  EXPECT_FALSE(notes->was_told(0));
  ASSERT_TRUE(node->unlink(kRoot, "f"));
  EXPECT_TRUE(notes->was_told(0)) << "of any: which file it was only the server knows";
  EXPECT_EQ(notes->open(), 0);
}

TEST(Watching, AServerThatBeganAnewWaitsForWhatTheOneBeforeHadGranted) {
  ClusterForTests cluster(1);
  const auto one = cluster.dispatcher(), other = cluster.dispatcher();
  const std::vector<Inode> file{made(*one, "f")};
  const int64_t until = one->watch(file);
  ASSERT_GT(until, 0);
  cluster.stop(0);
  cluster.start(0);
  ASSERT_TRUE(other->setattr(file[0], {.mode = 0640}));
  EXPECT_GE(lease_clock_ns(), until);
}

}  // namespace
}  // namespace haichi::gasfs
