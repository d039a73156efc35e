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
#include "gasfs/arena/reader.h"
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
  Reader reader(Bell& bell, size_t number = 0) { return Reader(*arena, number, bell); }

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
    const uint64_t ticket = gathering.give_ticket(file.attributes.inode, file.handle, true);
    return ring.put({.slot = slot, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {});
  }
  static std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
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
  const uint64_t ticket = gathering.give_ticket(a.attributes.inode, a.handle, true);
  ASSERT_TRUE(ring.put({.slot = 1, .kind = Kind::bind, .offset = ticket + 1}, [](std::byte*) {}));
  ASSERT_TRUE(write(ring, 1, 0, "x") && write(ring, 2, 0, "y"));
  gathering.drain();
  EXPECT_EQ(gathering.counts.records, 0u);
  EXPECT_EQ(client.arena->slots[1], kThroughKernel);
  ASSERT_TRUE(bind(ring, 1, a) && write(ring, 1, 0, "z"));
  gathering.forget(a.attributes.inode, a.handle);
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
  gathering.forget(a.attributes.inode, a.handle);
  EXPECT_FALSE(gathering.tickets.is_mapped(a.attributes.inode));
}

/// Answers what is asked, while this lives.
class Answering {
 public:
  explicit Answering(Gathering& gathering)
      : thread_([this, &gathering] {
          while (!ending_) {
            if (!gathering.answer_one()) std::this_thread::yield();
          }
        }) {}
  ~Answering() {
    ending_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

/// What a program reads: all that is there, in as many parts as it comes.
std::string read_by(Reader& reader, const ReadFile& file, uint64_t offset, size_t size) {
  std::string text;
  for (bool at_end = false; text.size() < size && !at_end;) {
    const auto part = reader.read(file, offset + text.size(), size - text.size());
    if (!part) return "refused";
    text.append(reinterpret_cast<const char*>(part->bytes.data()), part->bytes.size());
    at_end = part->at_end;
  }
  return text;
}

TEST_F(GatheringTest, AReaderGetsWhatIsThereAndAsksAgainOnlyWhereItChanges) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  Reader reader = client.reader(bell);
  const Opened a = create("a");
  std::string model;
  for (int i = 0; i < 30'000; ++i) model += char('a' + i * 7 % 26);
  const auto all = std::as_bytes(std::span(model));
  ASSERT_EQ(files.write(a.handle, 0, all, 1), model.size());
  const uint64_t ticket = gathering.give_ticket(a.attributes.inode, a.handle, false);
  ASSERT_TRUE(ring.put({.slot = 4, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {}));
  const Answering answering(gathering);
  const ReadFile file{.slot = 4, .number = 1};
  for (size_t at = 0; at + 40 <= model.size(); at += 40) {
    ASSERT_EQ(read_by(reader, file, at, 40), model.substr(at, 40)) << at;
  }
  EXPECT_EQ(gathering.counts.answers, 1u) << "the rest was kept";
  EXPECT_EQ(read_by(reader, file, model.size() - 10, 40), model.substr(model.size() - 10));
  EXPECT_EQ(read_by(reader, file, model.size(), 40), "");

  // By the mount: what is kept is right until then.
  EXPECT_EQ(read_by(reader, file, 0, 5), model.substr(0, 5));
  {
    const std::lock_guard lock(gathering.mutex);
    gathering.leases.changing(a.attributes.inode);
  }
  ASSERT_TRUE(files.write(a.handle, 2, bytes_of("NEW"), 1));
  EXPECT_EQ(read_by(reader, file, 1, 5), model.substr(1, 1) + "NEW" + model.substr(5, 1));
  const uint64_t before = gathering.counts.answers;
  EXPECT_EQ(read_by(reader, file, 1, 5), model.substr(1, 1) + "NEW" + model.substr(5, 1));
  EXPECT_EQ(gathering.counts.answers, before + 1) << "not kept while it changes";
  {
    const std::lock_guard lock(gathering.mutex);
    gathering.leases.changed(a.attributes.inode);
  }
}

TEST_F(GatheringTest, AReaderSeesWhatLiesInAnotherProgramsRing) {
  Client reading(gathering), writing(gathering);
  RingWriter ring = reading.ring(bell), other = writing.ring(bell);
  Reader reader = reading.reader(bell);
  const Opened a = create("a");
  const uint64_t ticket = gathering.give_ticket(a.attributes.inode, a.handle, false);
  ASSERT_TRUE(ring.put({.slot = 0, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {}));
  ASSERT_TRUE(files.write(a.handle, 0, bytes_of(std::string(1000, '.')), 1));
  const Answering answering(gathering);
  const ReadFile file{.slot = 0, .number = 1};
  EXPECT_EQ(read_by(reader, file, 0, 4), "....");
  {
    const std::lock_guard lock(gathering.mutex);
    ASSERT_TRUE(bind(other, 7, a));
  }
  for (int i = 0; i < 500; ++i) {
    const std::string text = fmt::format("{:04}", i);
    ASSERT_TRUE(write(other, 7, 0, text));
    ASSERT_EQ(read_by(reader, file, 0, 4), text);
  }
  {
    const std::lock_guard lock(gathering.mutex);
    gathering.forget(a.attributes.inode, a.handle);
  }
  EXPECT_EQ(read_by(reader, file, 0, 4), "refused") << "the kernel says what is wrong";
}

TEST_F(GatheringTest, AProgramThatAskedOnlyToReadWritesNothing) {
  Client client(gathering);
  RingWriter ring = client.ring(bell);
  const Opened a = create("a");
  const uint64_t ticket = gathering.give_ticket(a.attributes.inode, a.handle, false);
  ASSERT_TRUE(ring.put({.slot = 0, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {}));
  ASSERT_TRUE(write(ring, 0, 0, "x"));
  gathering.drain();
  EXPECT_EQ(client.arena->slots[0], kThroughKernel);
  EXPECT_EQ(read(a), "");
}

TEST_F(GatheringTest, QuestionsThatCantBeAreRefused) {
  Client client(gathering);
  (void)client.ring(bell);
  ReadBox& box = client.arena->boxes[3];
  std::mt19937_64 random(3);
  for (uint32_t i = 1; i <= 2000; ++i) {
    box.offset = random();
    box.size = uint32_t(random());
    box.slot = uint16_t(random());
    box.number = i;
    client.arena->asking = uint64_t{1} << 3;
    EXPECT_FALSE(gathering.answer_one()) << "nothing was bound";
    ASSERT_EQ(box.answered, i);
    ASSERT_EQ(box.got, -EBADF);
  }
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
