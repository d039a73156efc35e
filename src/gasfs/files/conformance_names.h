// The tests of conformance.h that are of names, folders and attributes.
#pragma once

#include "gasfs/files/conformance_fixture.h"

namespace haichi::gasfs {

TEST_P(NodeFilesConformance, BeginsWithAnEmptyFolder) {
  const auto root = files->getattr(kRoot);
  ASSERT_TRUE(root);
  EXPECT_TRUE(S_ISDIR(root->mode));
  EXPECT_EQ(root->inode, kRoot);
  EXPECT_EQ(root->links, 2u);
  EXPECT_THAT(names(kRoot), testing::IsEmpty());
}

TEST_P(NodeFilesConformance, MakesFilesAsTheyAreAskedFor) {
  const Opened made = create("a");
  EXPECT_TRUE(S_ISREG(made.attributes.mode));
  EXPECT_EQ(made.attributes.mode & 07777, 0644u);
  EXPECT_EQ(made.attributes.uid, 5u);
  EXPECT_EQ(made.attributes.gid, 6u);
  EXPECT_EQ(made.attributes.links, 1u);
  EXPECT_EQ(made.attributes.size, 0u);
  EXPECT_EQ(files->lookup(kRoot, "a")->inode, made.attributes.inode);
  EXPECT_EQ(errno_of(files->create(kRoot, "a", {.mode = 0600}, O_RDWR)), EEXIST);
  EXPECT_EQ(errno_of(files->create(made.attributes.inode, "b", {}, O_RDWR)), ENOTDIR);
}

TEST_P(NodeFilesConformance, RefusesBadNames) {
  for (const std::string_view name : {"", ".", "..", "a/b", "/"}) {
    EXPECT_EQ(errno_of(files->create(kRoot, name, {}, O_RDWR)), EINVAL) << name;
    EXPECT_EQ(errno_of(files->mkdir(kRoot, name, {})), EINVAL) << name;
    EXPECT_EQ(errno_of(files->unlink(kRoot, name)), EINVAL) << name;
  }
  EXPECT_EQ(errno_of(files->mkdir(kRoot, std::string(256, 'n'), {})), ENAMETOOLONG);
  EXPECT_TRUE(files->mkdir(kRoot, std::string(255, 'n'), {.mode = 0700}));
  EXPECT_EQ(errno_of(files->lookup(kRoot, "nobody")), ENOENT);
  EXPECT_EQ(errno_of(files->lookup(987654321, "a")), ESTALE);
}

TEST_P(NodeFilesConformance, AnUnlinkedFileLivesWhileItIsOpen) {
  const Opened a = create("a");
  ASSERT_TRUE(files->unlink(kRoot, "a"));
  EXPECT_EQ(errno_of(files->lookup(kRoot, "a")), ENOENT);
  write(a.handle, 0, "still here");
  EXPECT_EQ(read(a.handle), "still here");
  EXPECT_EQ(files->getattr(a.attributes.inode)->links, 0u);
  EXPECT_TRUE(files->flush(a.handle));
  const Opened other = create("a");
  EXPECT_NE(other.attributes.inode, a.attributes.inode);
  files->release(a.handle);
  EXPECT_EQ(errno_of(files->getattr(a.attributes.inode)), ESTALE);
}

TEST_P(NodeFilesConformance, LinksAreNamesOfOneFile) {
  const Opened a = create("a");
  const Inode folder = mkdir("d");
  EXPECT_EQ(files->link(a.attributes.inode, folder, "b")->links, 2u);
  write(a.handle, 0, "x");
  EXPECT_EQ(files->lookup(folder, "b")->size, 1u);
  EXPECT_EQ(errno_of(files->link(a.attributes.inode, folder, "b")), EEXIST);
  EXPECT_EQ(errno_of(files->link(folder, kRoot, "e")), EPERM);
  EXPECT_TRUE(files->unlink(kRoot, "a"));
  EXPECT_EQ(files->getattr(a.attributes.inode)->links, 1u);
  EXPECT_EQ(files->lookup(folder, "b")->inode, a.attributes.inode);
}

TEST_P(NodeFilesConformance, Folders) {
  const Inode d = mkdir("d");
  const Inode e = mkdir("e", d);
  EXPECT_EQ(files->getattr(d)->links, 3u);
  EXPECT_EQ(errno_of(files->rmdir(kRoot, "d")), ENOTEMPTY);
  EXPECT_EQ(errno_of(files->unlink(d, "e")), EISDIR);
  create("f", O_RDWR, e);
  EXPECT_EQ(errno_of(files->rmdir(e, "f")), ENOTDIR);
  EXPECT_TRUE(files->unlink(e, "f"));
  EXPECT_TRUE(files->rmdir(d, "e"));
  EXPECT_EQ(files->getattr(d)->links, 2u);
  EXPECT_TRUE(files->rmdir(kRoot, "d"));
  EXPECT_EQ(errno_of(files->lookup(kRoot, "d")), ENOENT);
}

TEST_P(NodeFilesConformance, AFolderWithSetGroupIdGivesItsGroup) {
  const Inode d = mkdir("d", kRoot, 02775);
  ASSERT_TRUE(files->setattr(d, {.gid = 77}));
  EXPECT_EQ(create("f", O_RDWR, d).attributes.gid, 77u);
  const auto below = files->getattr(mkdir("e", d));
  EXPECT_EQ(below->gid, 77u);
  EXPECT_EQ(below->mode & 07777, 02755u);
}

TEST_P(NodeFilesConformance, Renames) {
  const Opened a = create("a"), b = create("b");
  const Inode d = mkdir("d"), e = mkdir("e", d);
  EXPECT_TRUE(files->rename(kRoot, "a", kRoot, "a", 0));
  EXPECT_EQ(errno_of(files->rename(kRoot, "a", kRoot, "b", RENAME_NOREPLACE)), EEXIST);
  EXPECT_EQ(errno_of(files->rename(kRoot, "a", kRoot, "d", 0)), EISDIR);
  EXPECT_EQ(errno_of(files->rename(kRoot, "d", kRoot, "a", 0)), ENOTDIR);
  EXPECT_EQ(errno_of(files->rename(kRoot, "d", e, "x", 0)), EINVAL);
  EXPECT_EQ(errno_of(files->rename(kRoot, "none", kRoot, "x", 0)), ENOENT);
  EXPECT_EQ(errno_of(files->rename(kRoot, "a", kRoot, "none", RENAME_EXCHANGE)), ENOENT);
  EXPECT_EQ(errno_of(files->rename(kRoot, "a", kRoot, "x", 1u << 20)), EINVAL);

  EXPECT_TRUE(files->rename(kRoot, "a", kRoot, "b", RENAME_EXCHANGE));
  EXPECT_EQ(files->lookup(kRoot, "a")->inode, b.attributes.inode);
  EXPECT_TRUE(files->rename(kRoot, "b", e, "moved", 0));
  EXPECT_EQ(files->lookup(e, "moved")->inode, a.attributes.inode);
  EXPECT_EQ(errno_of(files->lookup(kRoot, "b")), ENOENT);
  EXPECT_TRUE(files->rename(kRoot, "a", e, "moved", 0));
  EXPECT_EQ(files->lookup(e, "moved")->inode, b.attributes.inode);
  EXPECT_EQ(files->getattr(a.attributes.inode)->links, 0u);  // still open

  EXPECT_TRUE(files->rename(d, "e", kRoot, "e", 0));
  EXPECT_EQ(files->getattr(d)->links, 2u);
  EXPECT_EQ(files->getattr(kRoot)->links, 4u);
  EXPECT_EQ(errno_of(files->rename(kRoot, "d", kRoot, "e", 0)), ENOTEMPTY);
  EXPECT_TRUE(files->rename(kRoot, "e", kRoot, "d", RENAME_EXCHANGE));
}

TEST_P(NodeFilesConformance, ListsEachNameOnceWhateverElseChanges) {
  const Inode d = mkdir("d");
  std::set<std::string> kept;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "f" + std::to_string(i);
    files->release(create(name, O_RDWR, d).handle);
    if (i % 3 != 0) kept.insert(name);
  }
  EXPECT_EQ(names(d).size(), 300u);
  std::multiset<std::string> seen;
  uint64_t cursor = 0;
  for (int round = 0;; ++round) {
    int took = 0;
    ASSERT_TRUE(files->readdir(d, cursor, [&](const Entry& entry) {
      seen.emplace(entry.name);
      EXPECT_EQ(entry.type, mode_t{S_IFREG});
      cursor = entry.cursor;
      return ++took < 7;
    }));
    if (took == 0) break;
    if (round < 100) {
      ASSERT_TRUE(files->unlink(d, "f" + std::to_string(3 * round)));
      files->release(create("new" + std::to_string(round), O_RDWR, d).handle);
    }
  }
  for (const auto& name : kept) EXPECT_EQ(seen.count(name), 1u) << name;
  for (const auto& name : seen) EXPECT_EQ(seen.count(name), 1u) << name;
  EXPECT_EQ(
      errno_of(files->readdir(create("f").attributes.inode, 0, [](const Entry&) { return true; })),
      ENOTDIR);
}

TEST_P(NodeFilesConformance, ChangesAttributes) {
  const Opened a = create("a");
  const Inode inode = a.attributes.inode;
  EXPECT_EQ(files->setattr(inode, {.mode = 0400})->mode, mode_t{S_IFREG | 0400});
  const auto owned = files->setattr(inode, {.uid = 10, .gid = 11});
  EXPECT_EQ(owned->uid, 10u);
  EXPECT_EQ(owned->gid, 11u);
  const auto timed =
      files->setattr(inode, {.accessed = timespec{1, 2}, .modified = timespec{-3, 999999999}});
  EXPECT_EQ(timed->accessed.tv_sec, 1);
  EXPECT_EQ(timed->accessed.tv_nsec, 2);
  EXPECT_EQ(timed->modified.tv_sec, -3);
  EXPECT_EQ(files->getattr(inode)->modified.tv_nsec, 999999999);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto touched = files->setattr(inode, {.modified = timespec{0, UTIME_NOW}});
  EXPECT_GE(touched->modified.tv_sec, now.tv_sec - 5);
  EXPECT_LE(touched->modified.tv_sec, now.tv_sec + 60);
  EXPECT_EQ(files->getattr(inode)->accessed.tv_sec, 1);
  EXPECT_EQ(errno_of(files->setattr(kRoot, {.size = 3})), EISDIR);
  EXPECT_EQ(errno_of(files->setattr(987654321, {.mode = 0})), ESTALE);
}

TEST_P(NodeFilesConformance, SymbolicLinksAndSpecialFiles) {
  const auto link = files->symlink(kRoot, "s", "a/b/../c", {.uid = 5, .gid = 6});
  ASSERT_TRUE(link);
  EXPECT_TRUE(S_ISLNK(link->mode));
  EXPECT_EQ(link->size, 8u);
  EXPECT_EQ(files->readlink(link->inode), "a/b/../c");
  EXPECT_EQ(errno_of(files->readlink(kRoot)), EINVAL);
  const auto fifo = files->mknod(kRoot, "p", {.mode = S_IFIFO | 0600});
  ASSERT_TRUE(fifo);
  EXPECT_EQ(fifo->mode, mode_t{S_IFIFO | 0600});
  EXPECT_EQ(errno_of(files->mknod(kRoot, "p", {.mode = S_IFIFO | 0600})), EEXIST);
}

TEST_P(NodeFilesConformance, ExtendedAttributes) {
  const Inode inode = create("a").attributes.inode;
  EXPECT_EQ(errno_of(files->getxattr(inode, "user.x")), ENODATA);
  EXPECT_EQ(errno_of(files->setxattr(inode, "user.x", "v", XATTR_REPLACE)), ENODATA);
  EXPECT_TRUE(files->setxattr(inode, "user.x", std::string_view("v\0w", 3), 0));
  EXPECT_EQ(errno_of(files->setxattr(inode, "user.x", "v", XATTR_CREATE)), EEXIST);
  EXPECT_EQ(files->getxattr(inode, "user.x"), std::string("v\0w", 3));
  EXPECT_TRUE(files->setxattr(inode, "user.y", "", XATTR_CREATE));
  EXPECT_THAT(*files->listxattr(inode), testing::UnorderedElementsAre("user.x", "user.y"));
  EXPECT_TRUE(files->removexattr(inode, "user.x"));
  EXPECT_EQ(errno_of(files->removexattr(inode, "user.x")), ENODATA);
}

TEST_P(NodeFilesConformance, TellsOfSpace) {
  const auto space = files->statfs();
  ASSERT_TRUE(space);
  EXPECT_GT(space->block_size, 0u);
  EXPECT_GE(space->blocks, space->free_blocks);
}

}  // namespace haichi::gasfs
