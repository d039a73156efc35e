// Files that several nodes hold, fetched from each other.
#include "gasfs/dispatcher/holding.h"

#include <fcntl.h>

#include "base/unguessable.h"
#include "gasfs/dispatcher/cluster_for_tests.h"
#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs {
namespace {

using State = HeldMessage::State;

/// A node that others can ask, and how the command speaks to it.
class Node {
 public:
  Node(const ClusterForTests& cluster, DispatcherOptions options = {.linger_ms = 60'000})
      : files(cluster.dispatcher(options)), holding_(*files) {
    const auto listens = holding_.listen();
    EXPECT_TRUE(listens);
    address = *listens;
    const LinkOptions link{
        .address = address, .secret = cluster.secret(), .session = unguessable_number()};
    link_ = std::make_unique<Link>(link, [] { return std::vector<Outgoing>(); });
  }
  void hold(Inode inode, const std::vector<Address>& from = {}) {
    EXPECT_TRUE(link_->ask(Outgoing(Kind::hold, pack_hold({inode, from}))));
  }
  HeldMessage held(Inode inode) {
    const auto told = link_->ask(Outgoing(Kind::held, pack_object({inode})));
    return told ? unpack_held(*told).value_or(HeldMessage{}) : HeldMessage{};
  }
  HeldMessage wait(Inode inode) {
    HeldMessage told = held(inode);
    for (int i = 0; i < 1000 && told.state == State::coming; ++i, told = held(inode))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return told;
  }
  void let_go(Inode inode) { (void)link_->ask(Outgoing(Kind::let_go, pack_object({inode}))); }
  std::string contents(Inode inode, size_t length) {
    const auto opened = files->open(inode, O_RDONLY);
    std::string text = read(*files, opened->handle, 0, length);
    files->release(opened->handle);
    return text;
  }

  std::shared_ptr<Dispatcher> files;
  Address address;

 private:
  Holding holding_;
  std::unique_ptr<Link> link_;
};

uint64_t served(ClusterForTests& cluster, uint32_t servers) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < servers; ++i) sum += cluster.service(i).counters().read_bytes;
  return sum;
}

TEST(Holding, EachByteLeavesTheServersOnceForAllNodes) {
  ClusterForTests cluster(2);
  const std::string text = drawn((9 << 20) + 12'345, 1);
  const Inode inode = stored(*cluster.dispatcher(), "f", text);
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(std::make_unique<Node>(cluster));
  std::vector<Address> before;
  for (auto& node : nodes) {
    node->hold(inode, before);
    before.insert(before.begin(), node->address);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const HeldMessage told = nodes[i]->wait(inode);
    EXPECT_EQ(told.state, State::held) << told.trouble;
    EXPECT_EQ(told.bytes, text.size());
    EXPECT_EQ(told.by_node, i == 0 ? 0 : text.size());
  }
  for (auto& node : nodes) EXPECT_TRUE(node->contents(inode, text.size()) == text);
  EXPECT_EQ(served(cluster, 2), text.size());
}

/// The cache for other files is as small as can be, and what is held stays all the same.
TEST(Holding, StaysWhateverElseIsReadUntilItIsLetGo) {
  ClusterForTests cluster(1);
  Node node(cluster, {.cache = 65536, .linger_ms = 60'000});
  const std::string text = drawn(3 << 20, 2);
  const Inode inode = stored(*node.files, "f", text);
  const Inode other = stored(*node.files, "other", drawn(1 << 20, 3));
  node.hold(inode);
  ASSERT_EQ(node.wait(inode).state, State::held);
  const uint64_t fetched = served(cluster, 1);
  (void)node.contents(other, 1 << 20);
  EXPECT_TRUE(node.contents(inode, text.size()) == text);
  EXPECT_EQ(served(cluster, 1), fetched + (1 << 20));
  node.let_go(inode);
  EXPECT_EQ(node.held(inode).state, State::none);
  EXPECT_TRUE(node.contents(inode, text.size()) == text);
  EXPECT_GT(served(cluster, 1), fetched + (1 << 20));
}

/// Who has it open sees what another node has closed, at once: not as late as linger_ms.
TEST(Holding, NobodySeesOldBytesOnceAWriteElsewhereHasReturned) {
  ClusterForTests cluster(2, 4096);
  Node one(cluster), other(cluster);
  std::string text = drawn(100'000, 4);
  const Inode inode = stored(*one.files, "f", text);
  const auto reading = one.files->open(inode, O_RDONLY);
  for (int i = 0; i < 12; ++i) {
    one.hold(inode);
    other.hold(inode, {one.address});
    ASSERT_EQ(one.wait(inode).state, State::held) << one.wait(inode).trouble;
    (void)other.wait(inode);
    ASSERT_TRUE(read(*one.files, reading->handle, 0, 200'000) == text);
    if (i % 3 == 2) {  // cut short
      Changes cut;
      cut.size = text.size() - 5000;
      ASSERT_TRUE(other.files->setattr(inode, cut));
      text.resize(*cut.size);
    } else {
      const auto writing = other.files->open(inode, O_WRONLY);
      const std::string piece = drawn(300, 50 + i);
      ASSERT_TRUE(other.files->write(writing->handle, 7000 * i, bytes(piece), 1));
      text.replace(7000 * i, piece.size(), piece);
      EXPECT_EQ(other.held(inode).state, State::none) << "what is written here ends it";
      ASSERT_TRUE(other.files->flush(writing->handle));
      other.files->release(writing->handle);
    }
    ASSERT_TRUE(read(*one.files, reading->handle, 0, 200'000) == text) << i;
    EXPECT_EQ(one.held(inode).state, State::none);
    ASSERT_TRUE(other.contents(inode, 200'000) == text) << i;
  }
}

TEST(Holding, IsOfUseWhereNothingElseIsKept) {
  ClusterForTests cluster(1);
  Node node(cluster, {.cache = 0, .linger_ms = 60'000});
  const std::string text = drawn(300'000, 9);
  const Inode inode = stored(*node.files, "f", text);
  node.hold(inode);
  ASSERT_EQ(node.wait(inode).state, State::held);
  const uint64_t fetched = served(cluster, 1);
  EXPECT_TRUE(node.contents(inode, text.size()) == text);
  EXPECT_EQ(served(cluster, 1), fetched);
}

/// A change elsewhere waits as long as a node counts on what it was told.
TEST(Holding, AChangeWaitsForWhoReads) {
  ClusterForTests cluster(1);
  Node one(cluster), other(cluster);
  const Inode inode = stored(*one.files, "f", "old");
  const auto reading = one.files->open(inode, O_RDONLY),
             writing = other.files->open(inode, O_WRONLY);
  one.hold(inode);
  ASSERT_EQ(one.wait(inode).state, State::held);
  std::atomic<bool> returned{false};
  std::thread changing([&] {
    EXPECT_TRUE(other.files->write(writing->handle, 0, bytes("new"), 1));
    EXPECT_TRUE(other.files->flush(writing->handle));
    returned = true;
  });
  for (bool behind = false; !behind;) {
    behind = returned;
    const std::string seen = read(*one.files, reading->handle, 0, 3);
    EXPECT_TRUE(seen == "new" || (seen == "old" && !behind)) << seen;
  }
  changing.join();
}

/// The node before is not there, has another secret, or holds nothing: the servers have it all.
TEST(Holding, GoesOnWithoutANodeThatDoesNotGiveIt) {
  ClusterForTests cluster(1), strangers(1);
  const std::string text = drawn(2 << 20, 5);
  const Inode inode = stored(*cluster.dispatcher(), "f", text);
  Node stranger(strangers), idle(cluster);
  Address nobody{"127.0.0.1", 0};
  const auto taken = listen_on(nobody);  // and answers to nobody
  ASSERT_TRUE(taken);
  for (const Address& bad : {nobody, idle.address}) {
    Node node(cluster, {.linger_ms = 60'000, .patience_ms = 1000});
    node.hold(inode, {bad});
    const HeldMessage told = node.wait(inode);
    EXPECT_EQ(told.state, State::held);
    EXPECT_EQ(told.by_node, 0u);
    EXPECT_NE(told.trouble.find(to_text(bad) + " does not give it"), std::string::npos)
        << told.trouble;
    EXPECT_TRUE(node.contents(inode, text.size()) == text);
  }
}

/// A node ends in the middle of a row.
TEST(Holding, ANodeThatEndsOnTheWayIsPassedOver) {
  ClusterForTests cluster(1);
  const std::string text = drawn(48 << 20, 6);
  const Inode inode = stored(*cluster.dispatcher(), "f", text);
  Node first(cluster), last(cluster);
  auto middle = std::make_unique<Node>(cluster);
  const Address between = middle->address;
  first.hold(inode);
  middle->hold(inode, {first.address});
  last.hold(inode, {between, first.address});
  while (last.held(inode).bytes == 0 && last.held(inode).state == State::coming)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  middle.reset();
  const HeldMessage told = last.wait(inode);
  EXPECT_EQ(told.state, State::held) << told.trouble;
  EXPECT_EQ(told.by_node, text.size());
  EXPECT_TRUE(last.contents(inode, text.size()) == text);
  EXPECT_EQ(served(cluster, 1), text.size());
}

TEST(Holding, WhatDoesNotFitIsRefusedUntilSomethingIsGone) {
  ClusterForTests cluster(1);
  Node node(cluster, {.pinned = 1 << 20});
  const Inode one = stored(*node.files, "one", drawn(700'000, 7));
  const Inode two = stored(*node.files, "two", drawn(700'000, 8));
  node.hold(one);
  ASSERT_EQ(node.wait(one).state, State::held);
  node.hold(two);
  EXPECT_EQ(node.wait(two).state, State::failed);
  EXPECT_NE(node.held(two).trouble.find("--pinned"), std::string::npos);
  ASSERT_TRUE(cluster.dispatcher()->unlink(kRoot, "one"));
  node.hold(two);
  EXPECT_EQ(node.wait(two).state, State::held) << node.held(two).trouble;
}

/// Files of any size are held, and nothing that is no file.
TEST(Holding, TakesFilesWithoutBytesAndNothingElse) {
  ClusterForTests cluster(1);
  Node node(cluster);
  const Inode empty = stored(*node.files, "empty", "");
  node.hold(empty);
  EXPECT_EQ(node.wait(empty).state, State::held);
  for (const Inode inode : {kRoot, Inode{12'345}}) {
    node.hold(inode);
    EXPECT_EQ(node.wait(inode).state, State::failed) << inode;
  }
}

}  // namespace
}  // namespace haichi::gasfs
