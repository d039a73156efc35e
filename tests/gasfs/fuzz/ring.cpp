// Fuzz target: what a program may do to the memory that it shares with the dispatcher. An input is
// steps: sound records, questions, numbers written anywhere, a tail that is moved. Whatever they
// are, another program's bytes are right afterwards.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/log.h"
#include "gasfs/arena/gathering.h"
#include "gasfs/arena/ring_writer.h"
#include "gasfs/files/memory_files.h"
#include "target.h"

namespace {

using namespace haichi::gasfs;
using namespace haichi::gasfs::arena;

/// Inputs between two beginnings.
constexpr unsigned kInputs = 500;
constexpr std::string_view kGood = "a good record";

void require(bool sound) {
  if (!sound) std::abort();
}

/// A program's side of an arena.
class Client {
 public:
  explicit Client(Gathering& gathering) {
    auto made = Program::make(::getpid());
    require(made.has_value());
    const int memory = (*made)->release_memory_fd();
    void* at = ::mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    require(at != MAP_FAILED);
    ::close(memory);
    arena = static_cast<Arena*>(at);
    arena->rings_used = 1;
    gathering.add(std::move(*made));
  }
  ~Client() { ::munmap(arena, sizeof(Arena)); }

  Arena* arena = nullptr;
};

/// Stamps without the processor's clock, so that runs are alike.
struct CountingBell : Bell {
  CountingBell() { stamps_counted = 1; }
};

/// A dispatcher with a good program and one that does what the inputs say.
class Node {
 public:
  Node() {
    file_ = create("good");
    other_ = create("other");
    bind(good_ring_, file_);
    bind(bad_ring_, other_);
    gathering_.drain();
  }
  ~Node() { gathering_.remove(::getpid()); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void run(const uint8_t* data, size_t size) {
    for (size_t at = 0; at + 9 <= size; at += 9) {
      uint64_t number = 0;
      std::memcpy(&number, data + at + 1, sizeof number);
      step(data[at], number);
    }
    write(good_ring_, kGood);
    gathering_.drain();
    gathering_.drain();
    std::string seen(kGood.size(), '?');
    require(files_.read(file_.handle, 0, std::as_writable_bytes(std::span(seen))).has_value());
    require(seen == kGood);
  }
  bool is_worn() const { return gathering_.counts.cut_off > 0; }

 private:
  Opened create(const char* name) {
    auto made = files_.create(kRoot, name, {.mode = 0600}, O_RDWR);
    require(made.has_value());
    gathering_.tickets.opened(made->attributes.inode);
    return *made;
  }
  void bind(RingWriter& ring, const Opened& file) {
    const uint64_t ticket = gathering_.give_ticket(file.attributes.inode, file.handle, true);
    require(ring.put({.slot = 0, .kind = Kind::bind, .offset = ticket}, [](std::byte*) {}));
  }
  static void write(RingWriter& ring, std::string_view text) {
    (void)ring.put({.size = static_cast<uint32_t>(text.size()), .slot = 0, .kind = Kind::write},
                   [&](std::byte* to) { std::memcpy(to, text.data(), text.size()); });
  }
  void step(uint8_t what, uint64_t number) {
    Arena& arena = *bad_.arena;
    RingHead& head = arena.heads[0];
    const uint64_t tail = head.tail;
    switch (what % 10) {
      case 0: {  // a record with any header
        Record record{static_cast<uint32_t>(number), static_cast<uint16_t>(number >> 48),
                      static_cast<Kind>(number >> 32 & 0xffff), number >> 8, number >> 40};
        std::memcpy(arena.rings[0] + tail % (kRingBytes - sizeof record), &record, sizeof record);
        head.tail = tail + room_of(number % 64);
        break;
      }
      case 1:  // a number at any place near by
        std::memcpy(arena.rings[0] + (tail + number % 256) % (kRingBytes - sizeof number), &number,
                    sizeof number);
        break;
      case 2:
        head.tail = tail + number % 4096;
        break;
      case 3:
        head.tail = number;
        break;
      case 4:
        head.head = number;
        break;
      case 5:
        arena.rings_used = static_cast<uint32_t>(number);
        break;
      case 6:
        gathering_.drain();
        break;
      case 7: {  // asks to read anything, to keep any name, or what nobody knows
        ReadBox& box = arena.boxes[number % kRings];
        box.offset = number >> 16;
        box.size = static_cast<uint32_t>(number >> 24);
        box.number = static_cast<uint32_t>(number >> 8);
        box.slot = static_cast<uint16_t>(number >> 44);
        box.ask = static_cast<Ask>(number >> 60);
        std::memcpy(arena.answers[number % kRings], &number, sizeof number);
        arena.asking |= number % 3 ? uint64_t{1} << number % kRings : number;
        break;
      }
      case 8:
        for (size_t i = 0; i < 2 * kRings && gathering_.answer_one(); ++i) continue;
        break;
      default: {  // a sound one, as far as the ring still is; it never waits for room
        Record record{4, 0, Kind::write, number % 100'000, ++stamp_};
        const size_t at = tail % kRingBytes;
        if (at + room_of(4) > kRingBytes || at % kAlignment != 0) break;
        std::memcpy(arena.rings[0] + at, &record, sizeof record);
        head.tail = tail + room_of(4);
      }
    }
  }

  MemoryFiles files_;
  CountingBell bell_;
  Gathering gathering_{files_, bell_};
  Client good_{gathering_}, bad_{gathering_};
  RingWriter good_ring_{*good_.arena, 0, bell_}, bad_ring_{*bad_.arena, 0, bell_};
  Opened file_, other_;
  uint64_t stamp_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::unique_ptr<Node> node;
  static unsigned used = 0;
  if (!node || node->is_worn() || ++used > kInputs) {
    haichi::set_log(haichi::LogLevel::error, "");
    node.reset();
    node = std::make_unique<Node>();
    used = 0;
  }
  node->run(data, size);
  return 0;
}

std::vector<Input> seeds() {
  const auto steps = [](std::initializer_list<std::pair<uint8_t, uint64_t>> all) {
    Input made;
    for (const auto& [what, number] : all) {
      made.push_back(what);
      for (int i = 0; i < 8; ++i) made.push_back(static_cast<uint8_t>(number >> 8 * i));
    }
    return made;
  };
  return {steps({{7, uint64_t{4096} << 24 | 1}, {8, 0}, {9, 10}, {6, 0}, {8, 0}}),
          steps({{7, uint64_t{1} << 60 | uint64_t{3} << 24 | 1}, {8, 0}, {9, 10}, {6, 0}}),
          steps({{9, 10}, {9, 20}, {6, 0}, {9, 30}}),
          steps({{1, 0}, {2, 24}, {6, 0}}),
          steps({{9, 1}, {3, 4096}, {6, 0}, {9, 5}}),
          steps({{4, 77}, {9, 9}, {9, 9}, {6, 0}}),
          steps({{5, 64}, {9, 9}, {6, 0}}),
          steps({{0, uint64_t{3} << 32 | 16}, {6, 0}, {9, 1}}),
          steps({{2, kRingBytes - 48}, {6, 0}, {9, 1}, {9, 2}, {6, 0}})};
}
