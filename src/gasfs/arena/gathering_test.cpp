// Rings filled as programs fill them, and as no program does.
#include "gasfs/arena/gathering.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/log.h"
#include "gasfs/arena/ring_writer.h"
#include "gasfs/files/memory_files.h"

namespace haichi::gasfs::arena {
namespace {

/// One program in this process: the dispatcher's view of it, and its own.
struct Client {
  explicit Client(Gathering& gathering) {
    auto made = Program::make(getpid());
    EXPECT_TRUE(made);
    const int memory = (*made)->release_memory_fd();
    void* const at = mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    EXPECT_NE(at, MAP_FAILED);
    close(memory);
    arena = static_cast<Arena*>(at);
    gathering.add(std::move(*made));
  }
  ~Client() { munmap(arena, sizeof(Arena)); }
  RingWriter ring(Bell& bell) { return RingWriter(*arena, arena->rings_used.fetch_add(1), bell); }

  Arena* arena = nullptr;
};

class GatheringTest : public testing::Test {
 protected:
  GatheringTest() { bell.stamps_counted = 1; }

  Opened create(const char* name) {
    const auto made = files.create(kRoot, name, {.mode = 0600}, O_RDWR);
    EXPECT_TRUE(made);
    gathering.tickets.opened(made->attributes.inode);
    return *made;
  }
  bool bind(RingWriter& ring, uint16_t slot, const Opened& file) {
    const uint64_t ticket = gathering.tickets.number_of(file.attributes.inode, file.handle);
    return ring.put({.slot = slot, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {});
  }
  static bool write(RingWriter& ring, uint16_t slot, uint64_t offset, std::string_view text) {
    return ring.put(
        {.size = uint32_t(text.size()), .slot = slot, .kind = Kind::write, .offset = offset},
        [&](std::byte* to) { memcpy(to, text.data(), text.size()); });
  }
  std::string read(const Opened& file, size_t size = 1 << 20) {
    std::string text(size, '\0');
    const auto got = files.read(file.handle, 0, std::as_writable_bytes(std::span(text)));
    text.resize(got.value_or(0));
    return text;
  }

  MemoryFiles files;
  Bell bell;
  Gathering gathering{files, bell};
};

TEST_F(GatheringTest, CarriesWritesToTheFileOfTheirSlot) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a"), b = create("b");
  EXPECT_FALSE(gathering.drain());
  ASSERT_TRUE(bind(ring, 5, a) && bind(ring, 6, b));
  ASSERT_TRUE(write(ring, 5, 0, "hello") && write(ring, 6, 2, "b") && write(ring, 5, 5, " you"));
  EXPECT_EQ(read(a), "");
  EXPECT_TRUE(gathering.drain());
  EXPECT_EQ(read(a), "hello you");
  EXPECT_EQ(read(b), std::string("\0\0b", 3));
  EXPECT_EQ(gathering.counts.records, 3u);
  EXPECT_EQ(gathering.counts.bytes, 10u);
  ASSERT_TRUE(bind(ring, 5, b) && write(ring, 5, 0, "B"));
  EXPECT_TRUE(gathering.drain());
  EXPECT_EQ(read(b), std::string("B\0b", 3));
}

TEST_F(GatheringTest, RandomSizesThroughManyRoundsOfTheRing) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a");
  ASSERT_TRUE(bind(ring, 0, a));
  std::mt19937 random(7);
  std::string model(1 << 20, '\0');
  uint64_t total = 0;
  while (total < 5 * kRingBytes) {
    const size_t size = 1 + random() % (random() % 4 == 0 ? kLargestWrite : 100);
    const size_t offset = random() % (model.size() - size);
    const std::string text(size, char('a' + random() % 26));
    if (total / kRingBytes != (total + size + 100) / kRingBytes || random() % 300 == 0) {
      gathering.drain();
    }
    ASSERT_TRUE(write(ring, 0, offset, text));
    model.replace(offset, size, text);
    total += size + 100;
    if (total % 7 == 0) gathering.drain();
  }
  gathering.drain();
  model.resize(read(a).size());
  EXPECT_TRUE(read(a) == model);
}

TEST_F(GatheringTest, AWriterWaitsForRoom) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a");
  ASSERT_TRUE(bind(ring, 0, a));
  constexpr int kRecords = 400;
  const std::string text(kLargestWrite, 'x');
  std::thread writer([&] {
    for (int i = 0; i < kRecords; ++i) EXPECT_TRUE(write(ring, 0, uint64_t(i % 10) * 100, text));
  });
  while (gathering.counts.records < kRecords) {
    const std::lock_guard lock(gathering.mutex);
    gathering.drain();
  }
  writer.join();
  EXPECT_EQ(gathering.counts.bytes, kRecords * kLargestWrite);
}

TEST_F(GatheringTest, WhereTheyOverlapTheLaterWriteWinsWhateverItsRing) {
  Client one(gathering), two(gathering);
  std::vector<RingWriter> rings{one.ring(bell), two.ring(bell), one.ring(bell)};
  const Opened a = create("a");
  for (auto& ring : rings) ASSERT_TRUE(bind(ring, 3, a));
  std::mt19937 random(11);
  std::string model(400, '\0');
  for (int i = 0; i < 20000; ++i) {
    const size_t offset = random() % 360, size = 1 + random() % 40;
    const std::string text(size, char('a' + i % 26));
    ASSERT_TRUE(write(rings[random() % 3], 3, offset, text));
    model.replace(offset, size, text);
    if (random() % 50 == 0) gathering.drain();
  }
  gathering.drain();
  EXPECT_EQ(read(a), model.substr(0, read(a).size()));
}

TEST_F(GatheringTest, WhatIsNotCommittedIsNotThere) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a");
  ASSERT_TRUE(bind(ring, 0, a) && write(ring, 0, 0, "whole"));
  // A record as a program leaves it that dies before it has stored the tail.
  const uint64_t tail = client.arena->heads[0].tail.load();
  const Record torn{.size = 4, .slot = 0, .kind = Kind::write, .offset = 0, .stamp = 99};
  memcpy(client.arena->rings[0] + tail, &torn, sizeof torn);
  memcpy(client.arena->rings[0] + tail + sizeof torn, "torn", 4);
  gathering.remove(getpid());
  EXPECT_EQ(read(a), "whole");
  EXPECT_EQ(gathering.programs(), 0u);
}

TEST_F(GatheringTest, AFailedWriteIsToldOfOnceAndSendsTheRestThroughTheKernel) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const auto made = files.create(kRoot, "a", {.mode = 0600}, O_RDONLY);
  gathering.tickets.opened(made->attributes.inode);
  ASSERT_TRUE(bind(ring, 9, *made) && write(ring, 9, 0, "x"));
  gathering.drain();
  EXPECT_EQ(client.arena->slots[9], kThroughKernel);
  EXPECT_EQ(gathering.tickets.take_error(made->handle), EBADF);
  EXPECT_EQ(gathering.tickets.take_error(made->handle), 0);
}

TEST_F(GatheringTest, TicketsThatNobodyGaveOpenNothing) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a");
  const uint64_t ticket = gathering.tickets.number_of(a.attributes.inode, a.handle);
  ASSERT_TRUE(ring.put({.slot = 1, .kind = Kind::bind, .offset = ticket + 1}, [](std::byte*) {}));
  ASSERT_TRUE(write(ring, 1, 0, "x") && write(ring, 2, 0, "y"));
  gathering.drain();
  EXPECT_EQ(gathering.counts.records, 0u);
  EXPECT_EQ(client.arena->slots[1], kThroughKernel);
  ASSERT_TRUE(bind(ring, 1, a) && write(ring, 1, 0, "z"));
  gathering.tickets.forget(a.attributes.inode, a.handle);
  files.release(a.handle);
  gathering.drain();  // closed meanwhile
  EXPECT_EQ(gathering.counts.records, 0u);
}

TEST_F(GatheringTest, MappedFilesGoThroughTheKernel) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a"), b = create("b");
  ASSERT_TRUE(bind(ring, 0, a) && bind(ring, 1, b));
  gathering.drain();
  gathering.mark_mapped(a.attributes.inode);
  EXPECT_EQ(client.arena->slots[0], kThroughKernel);
  EXPECT_EQ(client.arena->slots[1], 0);
  ASSERT_TRUE(bind(ring, 2, a));
  gathering.drain();
  EXPECT_EQ(client.arena->slots[2], kThroughKernel);
  gathering.tickets.forget(a.attributes.inode, a.handle);
  EXPECT_FALSE(gathering.tickets.is_mapped(a.attributes.inode));
}

// Whatever a program writes where it should not, the other one's bytes are right, and nothing
// beside the rings is read (under AddressSanitizer too).
TEST_F(GatheringTest, AProgramThatScribblesDisturbsNobody) {
  set_log(LogLevel::error, "");
  std::mt19937_64 random(20261);
  const Opened mine = create("mine"), theirs = create("theirs");
  std::string model;
  for (int i = 0; i < 20; ++i) model += "good";
  for (int round = 0; round < 300; ++round) {
    Client good(gathering), bad(gathering);
    RingWriter ring = good.ring(bell), scribbled = bad.ring(bell);
    ASSERT_TRUE(files.setattr(mine.attributes.inode, {.size = 0}));
    ASSERT_TRUE(bind(ring, 0, mine) && bind(scribbled, 0, theirs));
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(write(scribbled, 0, 1000 + uint64_t(i), "bad"));
      ASSERT_TRUE(write(ring, 0, uint64_t(i) * 4, "good"));
    }
    RingHead& head = bad.arena->heads[0];
    for (int i = 0; i < 3; ++i) {
      const uint64_t value = random() >> (random() % 64);
      switch (random() % 4) {
        case 0:
          head.tail = head.tail + (random() % 3 ? value : 8 * (value % 100));
          break;
        case 1:
          bad.arena->rings_used = uint32_t(value);
          break;
        case 2:
          head.head = value;
          break;
        default:
          memcpy(bad.arena->rings[0] + random() % 1400, &value, sizeof value);
      }
    }
    for (int i = 0; i < 3; ++i) gathering.drain();
    ASSERT_EQ(read(mine), model) << round;
    ASSERT_TRUE(write(ring, 0, 0, "and on"));
    gathering.drain();
    ASSERT_EQ(read(mine).substr(0, 6), "and on") << round;
    gathering.remove(getpid());
  }
  EXPECT_GT(gathering.counts.cut_off, 50u);
  set_log(LogLevel::warn, "");
}

}  // namespace
}  // namespace haichi::gasfs::arena
