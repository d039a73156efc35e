// What a node keeps of what it has read, and reads ahead.
#include <fcntl.h>

#include <atomic>
#include <random>

#include "gasfs/dispatcher/cluster_for_tests.h"
#include "gasfs/store/name_table.h"

namespace haichi::gasfs {
namespace {

uint64_t served(ClusterForTests& cluster, uint32_t servers) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < servers; ++i) sum += cluster.service(i).counters().read_bytes;
  return sum;
}

/// Sixteen processes on four nodes read one file, each in its own way.
TEST(Keeping, EachByteComesToEachNodeOnce) {
  constexpr size_t kSize = (8 << 20) + 12'345;
  ClusterForTests cluster(2, 65536);
  const std::string text = drawn(kSize, 1);
  const Inode inode = stored(*cluster.dispatcher(), "f", text);
  const uint64_t before = served(cluster, 2);
  std::vector<std::shared_ptr<Dispatcher>> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(cluster.dispatcher({.linger_ms = 60'000}));
  std::vector<std::thread> processes;
  std::atomic<int> wrong{0};
  for (int process = 0; process < 16; ++process)
    processes.emplace_back([&, process] {
      Dispatcher& node = *nodes[process % 4];
      const auto opened = node.open(inode, O_RDONLY);
      const size_t piece = process < 8 ? 100'000 : 1 << 20;
      for (size_t i = 0; i * piece < kSize; ++i) {
        // The first ones begin at the start, the others each at another place.
        const size_t pieces = (kSize + piece - 1) / piece;
        const size_t at = (i + (process % 8 < 4 ? 0 : process)) % pieces * piece;
        wrong += read(node, opened->handle, at, piece) != text.substr(at, piece);
      }
      node.release(opened->handle);
    });
  for (std::thread& process : processes) process.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(served(cluster, 2) - before, 4 * kSize);
}

TEST(Keeping, WhatIsReadInASequenceIsThereBefore) {
  ClusterForTests cluster(1);
  const std::string text = drawn(4 << 20, 2);
  const Inode inode = stored(*cluster.dispatcher(), "f", text);
  const auto node = cluster.dispatcher();
  const auto opened = node->open(inode, O_RDONLY);
  for (size_t at = 0; at < text.size(); at += 50'000)
    ASSERT_TRUE(read(*node, opened->handle, at, 50'000) == text.substr(at, 50'000)) << at;
  const auto status = node->getxattr(kRoot, kStatusAttribute);
  const auto number = [&](const std::string& name) {
    const size_t at = status->find("\"" + name + "\":");
    return std::stoull(status->substr(at + name.size() + 3));
  };
  EXPECT_EQ(number("fetched_bytes"), text.size());
  EXPECT_EQ(number("read_bytes"), text.size());
  EXPECT_GT(number("ahead_bytes"), text.size() / 2);
}

TEST(Keeping, FilesThatAreOpenedAgainAreHereUntilAnotherNodeWritesThem) {
  ClusterForTests cluster(2, 4096);
  const auto node = cluster.dispatcher(), other = cluster.dispatcher();
  std::string text = drawn(50'000, 3);
  const Inode inode = stored(*other, "f", text);
  const auto fetched = [&](std::string_view expected) {
    const uint64_t before = served(cluster, 2);
    const auto opened = node->open(inode, O_RDONLY);
    EXPECT_TRUE(read(*node, opened->handle, 0, 100'000) == expected);
    node->release(opened->handle);
    return served(cluster, 2) - before;
  };
  EXPECT_EQ(fetched(text), text.size());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(fetched(text), 0u);
  for (int i = 0; i < 20; ++i) {
    const auto opened = other->open(inode, O_WRONLY);
    const std::string piece = drawn(100 + 50 * i, 10 + i);
    const size_t at = 3000 * i;
    ASSERT_TRUE(other->write(opened->handle, at, bytes(piece), 1));
    if (text.size() < at + piece.size()) text.resize(at + piece.size());
    text.replace(at, piece.size(), piece);
    ASSERT_TRUE(other->flush(opened->handle));
    other->release(opened->handle);
    EXPECT_EQ(fetched(text), text.size()) << i;
    EXPECT_EQ(fetched(text), 0u);
  }
}

/// Who has it open already sees it --linger-ms later, there and here.
TEST(Keeping, AFileThatStaysOpenShowsWhatAnotherNodeWroteInTime) {
  ClusterForTests cluster(1);
  const auto node = cluster.dispatcher({.linger_ms = 20}), other = cluster.dispatcher();
  const Inode inode = stored(*other, "f", std::string(30'000, 'a'));
  const auto reading = node->open(inode, O_RDONLY), writing = other->open(inode, O_WRONLY);
  EXPECT_EQ(read(*node, reading->handle, 100, 3), "aaa");
  ASSERT_TRUE(other->write(writing->handle, 100, bytes("new"), 1));
  ASSERT_TRUE(other->flush(writing->handle));
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_EQ(read(*node, reading->handle, 100, 3), "new");
}

/// What is read while the writer's bytes are on their way to a server is not kept when it has
/// closed, nor for longer than twice --linger-ms where it goes on.
TEST(Keeping, WhatIsReadBeforeTheNewBytesHaveComeIsNotKept) {
  for (const bool closes : {true, false}) {
    ClusterForTests cluster(2, 4096);
    const auto node = cluster.dispatcher({.linger_ms = closes ? 60'000 : 20});
    const Inode inode = stored(*node, "f", drawn(30'000, 8));
    auto later = cluster.addresses();
    later[1].host = "127.0.0.2";
    const auto far = cluster.dispatcher(
        {.servers = later, .linger_ms = closes ? 60'000 : 20, .patience_ms = 10'000});
    const std::string text = drawn(31'000, 9);
    const auto writing = far->open(inode, O_WRONLY), reading = node->open(inode, O_RDONLY);
    ASSERT_TRUE(far->write(writing->handle, 0, bytes(text), 1));
    std::thread closing([&] { EXPECT_TRUE(!closes || far->flush(writing->handle)); });
    for (int i = 0; i < 50 && node->getattr(inode)->size < text.size(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(read(*node, reading->handle, 0, text.size()) == text) << "it can't be there";
    cluster.stop(1);
    cluster.start(1, "0.0.0.0");
    closing.join();
    const auto opened = node->open(inode, O_RDONLY);
    const bool at_once = read(*node, opened->handle, 0, text.size()) == text;
    EXPECT_TRUE(at_once || !closes);
    bool in_time = at_once;
    for (int i = 0; i < 500 && !in_time; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      in_time = read(*node, opened->handle, 0, text.size()) == text;
    }
    EXPECT_TRUE(in_time);
  }
}

/// A node that does not reach a server writes the other copies only, which all know of when it has
/// closed: what was read meanwhile of the server that lacks it is not kept beyond that.
TEST(Keeping, WhatIsFoundToBeStaleIsNotKept) {
  ClusterForTests cluster(2, 4096);
  const auto node = cluster.dispatcher({.linger_ms = 60'000});
  ASSERT_TRUE(node->setxattr(kRoot, kCopiesAttribute, "2", 0));
  const Inode inode = stored(*node, "f", drawn(30'000, 6));
  auto reached = cluster.addresses();
  reached[1] = {"127.0.0.1", 1};
  const auto cut_off =
      cluster.dispatcher({.servers = reached, .linger_ms = 20, .patience_ms = 2000});
  const std::string text = drawn(31'000, 7);
  const auto writing = cut_off->open(inode, O_WRONLY);
  ASSERT_TRUE(cut_off->write(writing->handle, 0, bytes(text), 1));
  while (node->getattr(inode)->size < text.size())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto early = node->open(inode, O_RDONLY);
  EXPECT_EQ(read(*node, early->handle, 0, text.size()).size(), text.size());
  node->release(early->handle);
  EXPECT_TRUE(cut_off->flush(writing->handle));
  ASSERT_EQ(node->getxattr(inode, kStaleAttribute), "1");
  const auto opened = node->open(inode, O_RDONLY);
  EXPECT_TRUE(read(*node, opened->handle, 0, text.size()) == text);
}

/// Random reads, writes and cuts of two handles of a node against a string, with little room.
TEST(Keeping, IsAFileAsAByteModelIs) {
  for (const uint64_t cache : {uint64_t{0}, uint64_t{60'000}, uint64_t{64} << 20}) {
    ClusterForTests cluster(3, 4096);
    const auto node = cluster.dispatcher({.sub_buffer = 30'000, .cache = cache, .linger_ms = 50});
    std::string model = drawn(300'000, 4);
    const Inode inode = stored(*node, "f", model);
    const Handle handles[] = {node->open(inode, O_RDWR)->handle, node->open(inode, O_RDWR)->handle};
    std::mt19937_64 random(cache + 5);
    uint64_t next = 0;
    for (int i = 0; i < 4000; ++i) {
      const Handle handle = handles[random() % 2];
      const uint64_t kind = random() % 40, length = 1 + random() % (i % 9 ? 3000 : 60'000);
      if (kind < 30) {
        next = random() % 4 ? next + length : random() % 300'000;
        if (next > 320'000) next = 0;
        const std::string got = read(*node, handle, next, length);
        const std::string wanted = next < model.size() ? model.substr(next, length) : "";
        ASSERT_EQ(got.size(), wanted.size()) << "step " << i << " with a cache of " << cache;
        const auto differs = std::ranges::mismatch(got, wanted).in1 - got.begin();
        ASSERT_EQ(size_t(differs), got.size())
            << "step " << i << " from " << next << " with a cache of " << cache;
      } else if (kind < 37) {
        const uint64_t at = random() % 300'000;
        const std::string text = drawn(length, i);
        ASSERT_TRUE(node->write(handle, at, bytes(text), 1));
        if (model.size() < at + length) model.resize(at + length);
        model.replace(at, length, text);
      } else if (kind < 39) {
        ASSERT_TRUE(node->flush(handle));
      } else {
        Changes changes;
        changes.size = random() % 300'000;
        ASSERT_TRUE(node->setattr(inode, changes));
        model.resize(*changes.size);
      }
    }
  }
}

TEST(Keeping, NoMoreIsKeptThanThereIsRoomFor) {
  KeptBlocks kept(10 * KeptBlocks::kBlock);
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t at = i * KeptBlocks::kBlock;
    const auto found = kept.find(7, at, at + 1, 1 << 20, uint64_t{1} << 30);
    ASSERT_TRUE(found.to_fetch);
    kept.arrived(found.chunk, 0);
    EXPECT_LE(kept.bytes(), 10 * KeptBlocks::kBlock);
  }
  EXPECT_TRUE(kept.has(7, 99 * KeptBlocks::kBlock));
  EXPECT_FALSE(kept.has(7, 89 * KeptBlocks::kBlock));
  kept.drop(7, 95 * KeptBlocks::kBlock, 1);
  EXPECT_EQ(kept.bytes(), 9 * KeptBlocks::kBlock);
  kept.confirm(7, {.changed = {.tv_sec = 1, .tv_nsec = 0}}, 0);
  EXPECT_EQ(kept.bytes(), 0u) << "nobody knows since when it is so";
}

}  // namespace
}  // namespace haichi::gasfs
