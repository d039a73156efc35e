#include "record/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace haichi::record {
namespace {

const std::vector<std::string> kNames{"MPI_Send", "MPI_Recv", "MPI_Waitall"};

EventKey numbered(int number) {
  EventKey key;
  key.tag = number;
  return key;
}

// What the numbers fold to; each event's tag is its number.
Sequence folded(const std::vector<int>& numbers, size_t most_bytes = size_t{8} << 20) {
  Folder folder(most_bytes);
  for (const int number : numbers) folder.add(numbered(number), 1000, 10);
  EXPECT_EQ(folder.events(), numbers.size());
  EXPECT_LE(folder.bytes(), most_bytes);
  return folder.sequence(kNames);
}

std::vector<int> unfolded(const Sequence& sequence) {
  std::vector<int> numbers;
  Unfolded events(sequence);
  while (const auto event = events.next()) numbers.push_back(sequence.events[size_t(*event)].tag);
  return numbers;
}

// "0 [3 1 2]": events by their tags, loops with their times.
std::string shown(const Sequence& sequence, const std::vector<Item>& body) {
  std::string text;
  for (const Item& item : body) {
    if (!text.empty()) text += ' ';
    if (item.event >= 0)
      text += fmt::format("{}", sequence.events[size_t(item.event)].tag);
    else
      text += fmt::format("[{} {}]", item.times, shown(sequence, item.body));
  }
  return text;
}
std::string shown(const Sequence& sequence) { return shown(sequence, sequence.program); }

size_t items(const std::vector<Item>& body) {
  size_t sum = body.size();
  for (const Item& item : body) sum += items(item.body);
  return sum;
}

TEST(Fold, AnEventAgainAndAgainIsALoop) {
  EXPECT_EQ(shown(folded({7, 7, 7, 7, 7})), "[5 7]");
  EXPECT_EQ(shown(folded({})), "");
  EXPECT_EQ(shown(folded({1, 2, 3})), "1 2 3");
}

TEST(Fold, LoopsNest) {
  std::vector<int> numbers{0};
  for (int outer = 0; outer < 100; ++outer) {
    for (int inner = 0; inner < 24; ++inner) numbers.insert(numbers.end(), {1, 2, 3});
    numbers.push_back(4);
  }
  numbers.push_back(5);
  EXPECT_EQ(shown(folded(numbers)), "0 [100 [24 1 2 3] 4] 5");
}

// The last of a body and the first of the next are one loop when they come: the outer loop is then
// a rotation of the program's.
TEST(Fold, WhatJoinsAtTheBordersOfALoopTurnsIt) {
  std::vector<int> numbers;
  for (int i = 0; i < 50; ++i) numbers.insert(numbers.end(), {1, 2, 1});
  const Sequence sequence = folded(numbers);
  EXPECT_EQ(unfolded(sequence), numbers);
  EXPECT_EQ(shown(sequence), "1 [49 2 [2 1]] 2 1");
}

TEST(Fold, AMillionIterationsAreAFewItems) {
  Folder folder;
  for (int i = 0; i < 1'000'000; ++i)
    for (int event = 0; event < 6; ++event) folder.add(numbered(event), 5, 7);
  EXPECT_FALSE(folder.cut());
  EXPECT_LT(folder.bytes(), 10'000 + sizeof(int) * 200'000);
  const Sequence sequence = folder.sequence(kNames);
  EXPECT_EQ(length(sequence), 6'000'000u);
  EXPECT_EQ(shown(sequence), "[1000000 0 1 2 3 4 5]");
  EXPECT_NEAR(sequence.events[3].compute_s, 5e-9, 1e-15);
}

// A body in which every event comes often and whose period is long: found by the longer grams.
TEST(Fold, FindsLongBodiesOfFewEvents) {
  std::mt19937 random(7);
  for (const size_t size : {50u, 700u, 3000u, 9000u}) {
    std::vector<int> body(size), numbers;
    for (int& each : body) each = int(random() % 3);
    for (int i = 0; i < 10; ++i) numbers.insert(numbers.end(), body.begin(), body.end());
    const Sequence sequence = folded(numbers);
    EXPECT_EQ(unfolded(sequence), numbers);
    EXPECT_LT(items(sequence.program), 3 * size) << size;
  }
}

TEST(Fold, TimesAreKeptForEachPlace) {
  Folder folder;
  for (int i = 1; i <= 10; ++i) {
    folder.add(numbered(1), i * 1000, i * 10);
    folder.add(numbered(2), 500, 5);
    folder.add(numbered(1), 7, 1);
    folder.add(numbered(3), 0, 0);
  }
  const Sequence sequence = folder.sequence(kNames);
  ASSERT_EQ(shown(sequence), "[10 1 2 1 3]");
  const auto& body = sequence.program[0].body;
  const auto at = [&](size_t i) { return sequence.events[size_t(body[i].event)]; };
  EXPECT_NEAR(at(0).compute_s, 5.5e-6, 1e-12);
  EXPECT_NEAR(at(0).took_s, 55e-9, 1e-12);
  EXPECT_NEAR(at(0).compute_most_s, 10e-6, 1e-12);
  EXPECT_NEAR(at(2).compute_s, 7e-9, 1e-12);
  EXPECT_EQ(at(3).compute_s, 0);
}

TEST(Fold, EventsDifferInAnyMember) {
  const int slots[] = {1, 2}, others[] = {1, 3};
  std::vector<EventKey> keys(16);
  keys[1].call = 1;
  keys[2].comm = 0;
  keys[3].peer = 0;
  keys[4].tag = 1;
  keys[5].root = 0;
  keys[6].request = 0;
  keys[7].from = 0;
  keys[8].from_tag = 1;
  keys[9].file = 0;
  keys[10].window = 0;
  keys[11].bytes = 0;
  keys[12].from_bytes = 0;
  keys[13].received = 0;
  keys[14].completes = slots;
  keys[15].completes = others;
  Folder folder;
  std::vector<int> numbers;
  for (int twice = 0; twice < 2; ++twice)
    for (size_t i = 0; i < keys.size(); ++i) {
      const int number = folder.event(keys[i]);
      EXPECT_EQ(number, int(i));
      folder.add(number, 0, 0);
    }
  const Sequence sequence = folder.sequence(kNames);
  ASSERT_EQ(sequence.program.size(), 1u);
  EXPECT_EQ(sequence.events[15].completes, (std::vector{1, 3}));
  EXPECT_EQ(sequence.events[1].call, "MPI_Recv");
  EXPECT_EQ(sequence.events[11].bytes, 0);
}

// --- Any stream unfolds to itself --------------------------------------------------------------

class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {}

  // Nested loops with counts and bodies at random; `rough`: loops whose rounds may differ.
  std::vector<int> stream(int depth, bool rough) {
    std::vector<int> numbers;
    const int parts = 1 + int(random_() % 4);
    for (int part = 0; part < parts; ++part) {
      if (depth == 0 || random_() % 2 == 0) {
        numbers.push_back(int(random_() % alphabet));
        continue;
      }
      auto body = stream(depth - 1, rough);
      const int times = 1 + int(random_() % 6);
      for (int i = 0; i < times; ++i) {
        if (rough && random_() % 4 == 0) body = stream(depth - 1, rough);
        numbers.insert(numbers.end(), body.begin(), body.end());
      }
    }
    return numbers;
  }

  unsigned alphabet = 4;

 private:
  std::mt19937 random_;
};

TEST(Fold, ProgramsUnfoldToWhatWentIn) {
  size_t events = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Programs programs(seed);
    programs.alphabet = 1 + seed % 7;
    const auto numbers = programs.stream(4, seed % 3 == 0);
    const Sequence sequence = folded(numbers);
    ASSERT_EQ(unfolded(sequence), numbers) << "seed " << seed;
    ASSERT_EQ(length(sequence), numbers.size());
    events += numbers.size();
  }
  EXPECT_GT(events, 100'000u);
}

// However often a program runs, it takes what a few rounds take.
TEST(Fold, RoundsTakeNoMemory) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const auto body = Programs(seed).stream(3, true);
    std::vector<int> numbers;
    for (int i = 0; i < 40; ++i) numbers.insert(numbers.end(), body.begin(), body.end());
    const Sequence sequence = folded(numbers);
    ASSERT_EQ(unfolded(sequence), numbers) << "seed " << seed;
    ASSERT_LE(items(sequence.program), 4 * body.size() + 8) << "seed " << seed;
  }
}

TEST(Fold, TotalsOfTimesAreKept) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Programs programs(seed);
    // Some are so irregular that places share what they took.
    std::vector<int> numbers;
    while (numbers.size() < (seed % 20 == 0 ? 20'000u : 100u)) {
      const auto more = programs.stream(3, true);
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
    Folder folder;
    std::mt19937 random(seed);
    int64_t compute = 0, took = 0;
    for (const int number : numbers) {
      const int64_t c = random() % 100'000, t = random() % 1000;
      compute += c;
      took += t;
      folder.add(numbered(number), c, t);
    }
    const Sequence sequence = folder.sequence(kNames);
    ASSERT_EQ(unfolded(sequence), numbers);
    double compute_s = 0, took_s = 0;
    Unfolded events(sequence);
    while (const auto event = events.next()) {
      compute_s += sequence.events[size_t(*event)].compute_s;
      took_s += sequence.events[size_t(*event)].took_s;
    }
    ASSERT_NEAR(compute_s, double(compute) * 1e-9, 1e-9 * double(compute) * 1e-6);
    ASSERT_NEAR(took_s, double(took) * 1e-9, 1e-9 * double(took) * 1e-6);
  }
}

TEST(Fold, IrregularPlacesShareTheirTimes) {
  std::mt19937 random(1);
  Folder folder;
  for (int i = 0; i < 20'000; ++i) folder.add(numbered(int(random() % 5)), 1000, 10);
  const Sequence sequence = folder.sequence(kNames);
  EXPECT_EQ(length(sequence), 20'000u);
  EXPECT_EQ(sequence.events.size(), 5u);
}

// --- Bounds ------------------------------------------------------------------------------------

TEST(Fold, IsCutWhereMemoryIsFullAndKeepsWhatCameBefore) {
  std::mt19937 random(3);
  for (const size_t most :
       {size_t{0}, size_t{100}, size_t{1000}, size_t{10'000}, size_t{200'000}}) {
    std::vector<int> numbers(50'000);
    for (int& each : numbers) each = int(random() % 50);
    Folder folder(most);
    for (const int number : numbers) folder.add(numbered(number), 1, 1);
    EXPECT_TRUE(folder.cut());
    EXPECT_LE(folder.bytes(), most + 16);
    const Sequence sequence = folder.sequence(kNames);
    EXPECT_TRUE(sequence.cut);
    const auto kept = unfolded(sequence);
    ASSERT_LT(kept.size(), numbers.size());
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), numbers.begin()));
    EXPECT_GT(kept.size() + 200, most / 200);
  }
}

TEST(Fold, EventsWithoutEndAreCutToo) {
  Folder folder(100'000);
  for (int i = 0; i < 100'000; ++i) folder.add(numbered(i), 1, 1);
  EXPECT_TRUE(folder.cut());
  EXPECT_LE(folder.bytes(), 100'000u);
  const auto kept = unfolded(folder.sequence(kNames));
  ASSERT_GT(kept.size(), 100u);
  for (size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], int(i));
}

}  // namespace
}  // namespace haichi::record
