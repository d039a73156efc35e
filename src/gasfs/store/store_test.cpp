#include "gasfs/store/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "gasfs/store/check.h"
#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

using ::testing::ElementsAre;
constexpr uint64_t kSession = 5;

std::vector<std::byte> bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

/// A store in a folder of its own.
class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string pattern = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir()) +
                          "gasfs_store_XXXXXX";
    folder = ::mkdtemp(pattern.data());
    open();
  }
  ~StoreTest() override {
    store.reset();
    std::filesystem::remove_all(folder);
  }
  void open() {
    store.reset();
    auto opened = Store::open(folder, {.servers = 2});
    ASSERT_TRUE(opened) << opened.error().text;
    store = std::move(*opened);
  }

  Outcome<NameReply> ask(NameRequest request) {
    if (request.op >= kFirstChange && request.sequence == 0) request.sequence = ++sequence;
    return store->names()->carry_out(kSession, request);
  }
  Outcome<NameReply> make(Inode folder_, std::string name, mode_t mode = S_IFREG | 0644,
                          uint32_t flags = 0) {
    return ask({.op = NameOp::make,
                .inode = folder_,
                .name = std::move(name),
                .file = {mode},
                .flags = flags});
  }
  Outcome<NameReply> remove(Inode folder_, std::string name, NameOp op = NameOp::unlink) {
    return ask({.op = op, .inode = folder_, .name = std::move(name)});
  }
  Outcome<NameReply> rename(Inode from, std::string name, Inode to, std::string new_name,
                            uint32_t flags = 0) {
    return ask({.op = NameOp::rename,
                .inode = from,
                .other = to,
                .name = std::move(name),
                .text = std::move(new_name),
                .flags = flags});
  }
  Outcome<NameReply> getattr(Inode inode) { return ask({.op = NameOp::getattr, .inode = inode}); }
  Inode inode_of(Inode folder_, std::string name) {
    const auto found = ask({.op = NameOp::lookup, .inode = folder_, .name = std::move(name)});
    return found ? found->attributes.inode : 0;
  }
  std::vector<std::string> list(Inode folder_, uint64_t cursor = 0) {
    const auto reply = ask({.op = NameOp::readdir, .inode = folder_, .number = cursor});
    std::vector<std::string> names;
    std::string_view text = reply->text;
    Entry entry;
    while (unpack_entry(text, entry)) names.emplace_back(entry.name);
    return names;
  }

  std::string folder;
  std::unique_ptr<Store> store;
  uint64_t sequence = 0;
};

TEST_F(StoreTest, KeepsWhatItHasBeyondItsProcess) {
  const uint64_t id = store->id();
  ASSERT_TRUE(make(kRoot, "file"));
  ASSERT_TRUE(store->objects().write(7, std::vector<Extent>{{100, 3}}, bytes("abc")));
  open();
  EXPECT_EQ(store->id(), id);
  EXPECT_NE(inode_of(kRoot, "file"), 0u);
  std::vector<std::byte> back(5);
  ASSERT_TRUE(store->objects().read(7, std::vector<Extent>{{99, 5}}, back));
  EXPECT_EQ(back, bytes(std::string_view("\0abc\0", 5)));
}

TEST_F(StoreTest, IsServedByOneProcess) {
  EXPECT_EQ(Store::open(folder, {.servers = 2}).error().code, EBUSY);
  store.reset();
  EXPECT_EQ(Store::open(folder, {.index = 1, .servers = 2}).error().code, EINVAL);
}

TEST_F(StoreTest, CutsAndRemovesObjects) {
  Objects& objects = store->objects();
  ASSERT_TRUE(objects.write(9, std::vector<Extent>{{0, 6}}, bytes("abcdef")));
  ASSERT_TRUE(objects.cut(9, 2));
  ASSERT_TRUE(objects.cut(9, 50)) << "does not grow";
  std::vector<std::byte> back(4);
  ASSERT_TRUE(objects.read(9, std::vector<Extent>{{0, 4}}, back));
  EXPECT_EQ(back, bytes(std::string_view("ab\0\0", 4)));
  std::vector<std::pair<Inode, uint64_t>> all;
  ASSERT_TRUE(objects.each([&](Inode inode, uint64_t size) {
    all.emplace_back(inode, size);
    return true;
  }));
  EXPECT_THAT(all, ElementsAre(std::pair<Inode, uint64_t>(9, 2)));
  ASSERT_TRUE(objects.remove(9));
  ASSERT_TRUE(objects.remove(9)) << "sent again";
  ASSERT_TRUE(objects.sync(9));
}

TEST_F(StoreTest, FollowsNoLinkOutOfItsFolder) {
  const std::string outside = folder + "/outside";
  std::filesystem::create_directories(folder + "/elsewhere");
  std::filesystem::remove_all(folder + "/objects/0b");
  std::filesystem::create_directory_symlink(folder + "/elsewhere", folder + "/objects/0b");
  const auto written = store->objects().write(11, std::vector<Extent>{{0, 1}}, bytes("x"));
  ASSERT_FALSE(written);
  EXPECT_TRUE(std::filesystem::is_empty(folder + "/elsewhere"));
}

TEST_F(StoreTest, FindsNames) {
  const auto made = make(kRoot, "a");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attributes.links, 1u);
  EXPECT_EQ(made->layout.servers, 2u);
  EXPECT_EQ(make(kRoot, "a").error(), EEXIST);
  EXPECT_EQ(make(kRoot, "").error(), EINVAL);
  EXPECT_EQ(make(kRoot, "..").error(), EINVAL);
  EXPECT_EQ(make(kRoot, "x/y").error(), EINVAL);
  EXPECT_EQ(make(kRoot, std::string("x\0y", 3)).error(), EINVAL);
  EXPECT_EQ(make(kRoot, std::string(256, 'x')).error(), ENAMETOOLONG);
  EXPECT_TRUE(make(kRoot, std::string(255, 'x')));
  EXPECT_EQ(make(made->attributes.inode, "b").error(), ENOTDIR);
  EXPECT_EQ(make(999, "b").error(), ESTALE);
  EXPECT_EQ(inode_of(kRoot, "a"), made->attributes.inode);
}

TEST_F(StoreTest, CountsLinks) {
  const Inode file = make(kRoot, "a")->attributes.inode;
  const Inode dir = make(kRoot, "d", S_IFDIR | 0755)->attributes.inode;
  EXPECT_EQ(getattr(kRoot)->attributes.links, 3u);
  EXPECT_EQ(ask({.op = NameOp::link, .inode = dir, .other = file, .name = "b"})->attributes.links,
            2u);
  EXPECT_EQ(ask({.op = NameOp::link, .inode = kRoot, .other = dir, .name = "e"}).error(), EPERM);
  EXPECT_EQ(remove(kRoot, "d", NameOp::rmdir).error(), ENOTEMPTY);
  EXPECT_EQ(remove(kRoot, "d").error(), EISDIR);
  EXPECT_EQ(remove(dir, "b", NameOp::rmdir).error(), ENOTDIR);
  EXPECT_FALSE(remove(kRoot, "a")->gone);
  const auto last = remove(dir, "b");
  EXPECT_TRUE(last->gone);
  EXPECT_EQ(last->gone_inode, file);
  EXPECT_EQ(getattr(file).error(), ESTALE);
  EXPECT_TRUE(remove(kRoot, "d", NameOp::rmdir));
  EXPECT_EQ(getattr(kRoot)->attributes.links, 2u);
}

TEST_F(StoreTest, KeepsWhatIsOpenWithoutAName) {
  const Inode file = make(kRoot, "a", S_IFREG | 0600, kOpens)->attributes.inode;
  EXPECT_FALSE(remove(kRoot, "a")->gone);
  EXPECT_EQ(getattr(file)->attributes.links, 0u);
  EXPECT_TRUE(store->names()->drop_orphans()->empty()) << "it is open";
  const auto closed = ask({.op = NameOp::close, .inode = file, .number = 0});
  EXPECT_TRUE(closed->gone);
  EXPECT_EQ(getattr(file).error(), ESTALE);
}

TEST_F(StoreTest, DropsWhatASessionThatIsGoneHadOpen) {
  const Inode file = make(kRoot, "a", S_IFREG | 0600, kOpens)->attributes.inode;
  const Inode other = make(kRoot, "b", S_IFREG | 0600, kOpens)->attributes.inode;
  remove(kRoot, "a");
  remove(kRoot, "b");
  open();  // a new process, which knows of no open file
  ask({.op = NameOp::open, .inode = other, .number = 1});
  EXPECT_THAT(*store->names()->drop_orphans(), ElementsAre(file));
  EXPECT_TRUE(getattr(other));
}

TEST_F(StoreTest, Renames) {
  const Inode a = make(kRoot, "a")->attributes.inode, b = make(kRoot, "b")->attributes.inode;
  const Inode d = make(kRoot, "d", S_IFDIR | 0755)->attributes.inode;
  const Inode e = make(d, "e", S_IFDIR | 0755)->attributes.inode;
  EXPECT_EQ(rename(kRoot, "a", kRoot, "b", RENAME_NOREPLACE).error(), EEXIST);
  EXPECT_EQ(rename(kRoot, "d", e, "x").error(), EINVAL) << "into itself";
  EXPECT_EQ(rename(kRoot, "a", kRoot, "d").error(), EISDIR);
  EXPECT_EQ(rename(kRoot, "d", kRoot, "a").error(), ENOTDIR);
  EXPECT_EQ(rename(kRoot, "none", kRoot, "a").error(), ENOENT);
  EXPECT_TRUE(rename(kRoot, "a", kRoot, "b", RENAME_EXCHANGE));
  EXPECT_EQ(inode_of(kRoot, "a"), b);
  EXPECT_EQ(inode_of(kRoot, "b"), a);
  const auto over = rename(kRoot, "b", d, "moved");
  EXPECT_FALSE(over->gone);
  const auto replaced = rename(kRoot, "a", d, "moved");
  EXPECT_TRUE(replaced->gone);
  EXPECT_EQ(replaced->gone_inode, a);
  EXPECT_TRUE(rename(d, "e", kRoot, "e"));
  EXPECT_EQ(getattr(d)->attributes.links, 2u);
  EXPECT_EQ(getattr(kRoot)->attributes.links, 4u);
  EXPECT_THAT(list(kRoot), ElementsAre("d", "e"));
  make(e, "in the way");
  EXPECT_EQ(rename(kRoot, "d", kRoot, "e").error(), ENOTEMPTY);
}

TEST_F(StoreTest, ListsEachNameOnceWhileOthersComeAndGo) {
  for (int i = 0; i < 20; ++i) make(kRoot, "keep" + std::to_string(i));
  std::multiset<std::string> seen;
  uint64_t cursor = 0;
  for (int round = 0;; ++round) {
    const auto reply = ask({.op = NameOp::readdir, .inode = kRoot, .number = cursor});
    std::string_view text = reply->text;
    Entry entry;
    int taken = 0;
    while (taken < 3 && unpack_entry(text, entry)) {
      seen.emplace(entry.name);
      cursor = entry.cursor;
      ++taken;
    }
    if (taken == 0) break;
    if (round < 10) {
      make(kRoot, "new" + std::to_string(round));
      if (round > 0) remove(kRoot, "new" + std::to_string(round - 1));
    }
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen.count("keep" + std::to_string(i)), 1u);
}

TEST_F(StoreTest, ChangesOnceWhatIsSentTwice) {
  NameRequest make{
      .op = NameOp::make, .sequence = 100, .inode = kRoot, .name = "a", .file = {S_IFREG | 0644}};
  const Inode inode = ask(make)->attributes.inode;
  NameRequest append{.op = NameOp::append, .sequence = 101, .inode = inode, .number = 40};
  EXPECT_EQ(ask(append)->number, 0u);
  open();
  const auto again = ask(make);
  ASSERT_TRUE(again) << "the answer is kept beyond the process";
  EXPECT_EQ(again->attributes.inode, inode);
  EXPECT_EQ(ask(append)->number, 0u);
  EXPECT_EQ(getattr(inode)->attributes.size, 40u);
  append.sequence = 102;
  append.settled = 102;
  EXPECT_EQ(ask(append)->number, 40u);
  make.sequence = 100;
  EXPECT_EQ(ask(make).error(), EEXIST) << "settled answers are dropped";
}

TEST_F(StoreTest, ChangesAttributes) {
  const Inode file = make(kRoot, "a")->attributes.inode;
  NameRequest request{.op = NameOp::setattr, .inode = file};
  request.changes.mode = 0100640;
  request.changes.size = 1000;
  request.changes.modified = timespec{123, 456};
  const auto changed = ask(request);
  EXPECT_EQ(changed->attributes.mode, unsigned{S_IFREG | 0640});
  EXPECT_EQ(changed->attributes.size, 1000u);
  EXPECT_EQ(changed->attributes.modified.tv_nsec, 456);
  EXPECT_EQ(ask({.op = NameOp::grow, .inode = file, .number = 500})->attributes.size, 1000u);
  EXPECT_EQ(ask({.op = NameOp::grow, .inode = file, .number = 1500})->attributes.size, 1500u);
  request.inode = kRoot;
  EXPECT_EQ(ask(request).error(), EISDIR);
}

TEST_F(StoreTest, ChangesBytesWhenTheyWereWrittenAndNeverTwiceAtATime) {
  const auto made = make(kRoot, "a");
  NameRequest grow{.op = NameOp::grow, .inode = made->attributes.inode, .number = 10};
  const auto told = [&](time_t seconds, long ns) {
    grow.changes.modified = timespec{seconds, ns};
    const auto reply = ask(grow);
    EXPECT_EQ(reply->attributes.modified.tv_sec, seconds);
    const timespec changed = reply->attributes.changed;
    return std::pair(changed.tv_sec, changed.tv_nsec);
  };
  const time_t later = made->attributes.changed.tv_sec + 100;
  EXPECT_EQ(told(later, 999'999'998), std::pair(later, 999'999'998L));
  EXPECT_EQ(told(later, 999'999'998), std::pair(later, 999'999'999L));
  EXPECT_EQ(told(later - 50, 0), std::pair(later + 1, 0L)) << "the clock of another node";
  EXPECT_EQ(told(later + 1, 5), std::pair(later + 1, 5L));
}

TEST_F(StoreTest, KeepsLinksAndAttributesOfUsers) {
  auto link = ask({.op = NameOp::make,
                   .inode = kRoot,
                   .name = "l",
                   .text = "to/there",
                   .file = {S_IFLNK | 0777}});
  const Inode inode = link->attributes.inode;
  EXPECT_EQ(link->attributes.size, 8u);
  EXPECT_EQ(ask({.op = NameOp::readlink, .inode = inode})->text, "to/there");
  EXPECT_EQ(ask({.op = NameOp::readlink, .inode = kRoot}).error(), EINVAL);
  const Inode file = make(kRoot, "a")->attributes.inode;
  EXPECT_EQ(ask({.op = NameOp::getxattr, .inode = file, .name = "user.x"}).error(), ENODATA);
  EXPECT_TRUE(ask({.op = NameOp::setxattr, .inode = file, .name = "user.x", .text = "1"}));
  EXPECT_EQ(ask({.op = NameOp::setxattr, .inode = file, .name = "user.x", .text = "2", .flags = 1})
                .error(),
            EEXIST);
  EXPECT_EQ(ask({.op = NameOp::listxattr, .inode = file})->text, std::string("user.x\0", 7));
  EXPECT_EQ(ask({.op = NameOp::listxattr, .inode = inode})->text, "");
  EXPECT_TRUE(ask({.op = NameOp::removexattr, .inode = file, .name = "user.x"}));
  EXPECT_EQ(ask({.op = NameOp::removexattr, .inode = file, .name = "user.x"}).error(), ENODATA);
}

TEST_F(StoreTest, DealsStripesOutAsAFolderSays) {
  const Inode dir = make(kRoot, "d", S_IFDIR | 0755)->attributes.inode;
  const auto set = [&](Inode inode, std::string text) {
    return ask({.op = NameOp::setxattr,
                .inode = inode,
                .name = std::string(kStripeAttribute),
                .text = std::move(text)});
  };
  EXPECT_EQ(set(dir, "5000").error(), EINVAL);
  EXPECT_TRUE(set(dir, "1048576"));
  const auto made = make(dir, "a");
  EXPECT_EQ(made->layout.stripe, 1048576u);
  EXPECT_EQ(make(kRoot, "b")->layout.stripe, Layout{}.stripe);
  const Inode below = make(dir, "e", S_IFDIR | 0755)->attributes.inode;
  EXPECT_EQ(make(below, "c")->layout.stripe, 1048576u) << "folders in it inherit it";
  ask({.op = NameOp::grow, .inode = made->attributes.inode, .number = 1});
  EXPECT_EQ(set(made->attributes.inode, "4096").error(), ENOTEMPTY);
}

TEST_F(StoreTest, KnowsWhichCopiesAreStale) {
  const Inode dir = make(kRoot, "d", S_IFDIR | 0755)->attributes.inode;
  const auto set = [&](Inode inode, std::string_view name, std::string text) {
    return ask({.op = NameOp::setxattr,
                .inode = inode,
                .name = std::string(name),
                .text = std::move(text)});
  };
  const auto get = [&](Inode inode, std::string_view name) {
    return ask({.op = NameOp::getxattr, .inode = inode, .name = std::string(name)});
  };
  for (const char* wrong : {"0", "3", "x", ""})
    EXPECT_EQ(set(dir, kCopiesAttribute, wrong).error(), EINVAL) << wrong;
  EXPECT_EQ(make(dir, "one")->layout.copies, 1u);
  EXPECT_TRUE(set(dir, kCopiesAttribute, "2"));
  const auto made = make(dir, "two");
  const Inode file = made->attributes.inode;
  EXPECT_EQ(made->layout.copies, 2u);
  EXPECT_EQ(get(file, kCopiesAttribute)->text, "2");
  EXPECT_EQ(get(file, kStaleAttribute).error(), ENODATA);
  EXPECT_EQ(set(file, kStaleAttribute, "1").error(), EPERM);

  const auto lose = [&](Inode inode, uint64_t server) {
    return ask({.op = NameOp::lose_copy, .inode = inode, .number = server});
  };
  EXPECT_EQ(lose(file, 2).error(), EINVAL);
  ASSERT_TRUE(lose(file, 1));
  EXPECT_TRUE(lose(file, 1)) << "again";
  EXPECT_EQ(lose(file, 0).error(), EIO) << "the other has what server 1 lacks";
  open();
  EXPECT_EQ(ask({.op = NameOp::getattr, .inode = file})->layout.stale, 2u);
  EXPECT_EQ(get(file, kStaleAttribute)->text, "1");
  EXPECT_EQ(lose(make(kRoot, "single")->attributes.inode, 0).error(), EIO) << "it has one copy";
}

TEST_F(StoreTest, ReadsRecordsFromBeforeThereWereCopies) {
  const Inode file = make(kRoot, "a")->attributes.inode;
  {
    auto txn = store->names()->database().begin(true);
    const std::string record(*txn->get(Table::inodes, key_of(file)));
    ASSERT_TRUE(
        txn->put(Table::inodes, key_of(file), std::string_view(record).substr(0, kShortRecord)));
    ASSERT_TRUE(txn->commit());
  }
  const auto reply = ask({.op = NameOp::getattr, .inode = file});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->layout.copies, 1u);
  EXPECT_EQ(reply->layout.servers, 2u);
}

TEST_F(StoreTest, InheritsTheGroupOfAFolderThatSaysSo) {
  NameRequest request{
      .op = NameOp::make, .inode = kRoot, .name = "d", .file = {S_IFDIR | S_ISGID | 0755, 1, 77}};
  const Inode dir = ask(request)->attributes.inode;
  request = {.op = NameOp::make, .inode = dir, .name = "e", .file = {S_IFDIR | 0755, 1, 5}};
  const auto made = ask(request);
  EXPECT_EQ(made->attributes.gid, 77u);
  EXPECT_TRUE(made->attributes.mode & S_ISGID);
}

TEST_F(StoreTest, IsFoundSoundOrNot) {
  const Inode dir = make(kRoot, "d", S_IFDIR | 0755)->attributes.inode;
  const Inode file = make(dir, "a")->attributes.inode;
  ask({.op = NameOp::link, .inode = kRoot, .other = file, .name = "b"});
  ask({.op = NameOp::make, .inode = kRoot, .name = "l", .text = "x", .file = {S_IFLNK | 0777}});
  ASSERT_TRUE(store->objects().write(file, std::vector<Extent>{{0, 1}}, bytes("x")));
  const std::span stores(&store, 1);
  const auto sound = check(stores);
  ASSERT_TRUE(sound);
  EXPECT_THAT(sound->problems, ElementsAre());
  EXPECT_EQ(sound->files, 4u);
  EXPECT_EQ(sound->objects, 1u);

  ASSERT_TRUE(store->objects().write(4711, std::vector<Extent>{{0, 1}}, bytes("x")));
  auto txn = store->names()->database().begin(true);
  ASSERT_TRUE(txn->remove(Table::inodes, key_of(file)));
  ASSERT_TRUE(txn->commit());
  const auto damaged = check(stores);
  EXPECT_EQ(damaged->problems.size(), 2u) << "two names have no file";
  EXPECT_THAT(damaged->left_over, ::testing::UnorderedElementsAre(file, 4711));
  ASSERT_TRUE(repair(stores, *damaged));
  EXPECT_EQ(check(stores)->objects, 0u);
}

}  // namespace
}  // namespace haichi::gasfs
