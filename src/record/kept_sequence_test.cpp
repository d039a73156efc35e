#include "record/kept_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <vector>

#include "base/os.h"
#include "record/fold.h"
#include "record/sequence_layout.h"

namespace haichi::record {
namespace {

const std::vector<std::string> kNames{"MPI_Send", "MPI_Recv"};
constexpr size_t kMost = Folder::kMostBytes;

/// A file with a name, in which a folder keeps what it does.
class Kept {
 public:
  Kept() : fd_(mkstemp(path_)), memory_(SequenceLayout(kMost).bytes, fd_), folder_(memory_, 0) {}
  ~Kept() { unlink(path_); }

  void add(int number) {
    const int slots[] = {number, number + 1};
    EventKey key;
    key.call = number % 2;
    key.tag = number;
    if (number % 3 == 0) key.completes = slots;
    folder_.add(key, 1000 + number, 10);
  }
  std::string bytes() const { return *read_file(path_); }
  std::optional<Sequence> read() const { return read(bytes()); }
  static std::optional<Sequence> read(const std::string& bytes) {
    return kept_sequence(std::as_bytes(std::span(bytes)), kNames);
  }
  Folder& folder() { return folder_; }

 private:
  char path_[32] = "/tmp/haichi-kept-XXXXXX";
  int fd_;
  Memory memory_;
  Folder folder_;
};

/// The i-th event of a program that is regular in part.
int event_of(int i) {
  if (i / 700 % 3 != 0) return i % 7;
  return int(uint32_t(i) * 2654435761u >> 24) % 6;
}

std::vector<int> unfolded(const Sequence& sequence) {
  std::vector<int> numbers;
  Unfolded events(sequence);
  while (const auto event = events.next()) numbers.push_back(sequence.events[size_t(*event)].tag);
  return numbers;
}

/// That it is the program's beginning, with what belongs to each event.
void expect_beginning(const Sequence& sequence) {
  const auto numbers = unfolded(sequence);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], event_of(int(i))) << i;
  for (const Event& event : sequence.events) {
    EXPECT_EQ(event.call, kNames[size_t(event.tag % 2)]);
    EXPECT_EQ(event.completes.size(), event.tag % 3 == 0 ? 2u : 0u);
    EXPECT_NEAR(event.compute_s, 1e-9 * (1000 + event.tag), 1e-12);
    EXPECT_NEAR(event.took_s, 1e-8, 1e-13);
  }
}

TEST(KeptSequence, IsWhatWasFoldedAtAnyTime) {
  Kept kept;
  for (int i = 0; i < 12'000; ++i) {
    if (i % 173 == 0 || i > 11'990) {
      const auto sequence = kept.read();
      ASSERT_TRUE(sequence) << i;
      EXPECT_FALSE(sequence->cut);
      ASSERT_EQ(length(*sequence), uint64_t(i));
      expect_beginning(*sequence);
    }
    kept.add(event_of(i));
  }
}

TEST(KeptSequence, OfManyEqualStepsTakesLittle) {
  Kept kept;
  for (int i = 0; i < 1'000'000; ++i) kept.add(i % 5);
  const auto sequence = kept.read();
  ASSERT_TRUE(sequence);
  EXPECT_EQ(length(*sequence), 1'000'000u);
  EXPECT_LE(sequence->program.size(), 3u);
}

/// A program that never repeats itself: what is cut from what is folded is cut from what is kept.
TEST(KeptSequence, IsCutWhereMemoryIsFull) {
  Kept kept;
  std::mt19937 random(1);
  while (!kept.folder().cut()) kept.add(int(random() % 1000));
  const auto sequence = kept.read();
  ASSERT_TRUE(sequence);
  EXPECT_TRUE(sequence->cut);
  EXPECT_EQ(unfolded(*sequence), unfolded(kept.folder().sequence(kNames)));
  EXPECT_GT(length(*sequence), 30'000u);
  EXPECT_LE(kept.bytes().size(), kMost);
}

/// A child adds events and counts them, fewer than would be cut; it is killed at some instruction.
/// What is there then is as much as it had added, or the one more that it was adding.
TEST(KeptSequence, IsThereAfterAKillAtAnyInstruction) {
  auto* const added =
      static_cast<std::atomic<int>*>(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(added, MAP_FAILED);
  std::mt19937 random(5);
  int most = 0;
  for (int trial = 0; trial < 60; ++trial) {
    added->store(0);
    Kept kept;
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 100'000; added->store(++i)) kept.add(event_of(i));
      for (;;) pause();
    }
    while (added->load() == 0) usleep(100);
    usleep(random() % 20'000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const auto sequence = kept.read();
    ASSERT_TRUE(sequence) << "trial " << trial;
    EXPECT_FALSE(sequence->cut);
    const auto there = int(length(*sequence));
    EXPECT_GE(there, added->load());
    EXPECT_LE(there, added->load() + 1);
    expect_beginning(*sequence);
    most = std::max(most, there);
  }
  EXPECT_GT(most, 2000) << "no child came to its second copy";
  munmap(added, sizeof(std::atomic<int>));
}

/// Whatever the bytes are: nothing, or a sequence; never a crash, nor anything read beyond the end.
TEST(KeptSequence, WithstandsDamage) {
  Kept kept;
  for (int i = 0; i < 6'000; ++i) kept.add(event_of(i));
  const std::string whole = kept.bytes();
  std::mt19937 random(9);
  const SequenceLayout layout(kMost);
  const size_t begins[] = {0,
                           layout.log_at,
                           layout.events_at,
                           layout.completes_at,
                           layout.copy_at[0],
                           layout.copy_at[1]};
  int refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes = whole;
    if (trial % 10 == 0) bytes.resize(random() % bytes.size());
    for (int i = 0; i < 3; ++i) {
      const size_t at = begins[random() % std::size(begins)] + random() % 600;
      if (at < bytes.size()) bytes[at] = char(random());
    }
    const auto sequence = Kept::read(bytes);
    if (!sequence) ++refused;
  }
  EXPECT_GT(refused, 20);
  EXPECT_FALSE(Kept::read(std::string(100, '\0')));
}

}  // namespace
}  // namespace haichi::record
