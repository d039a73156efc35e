#include "report/log_records.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/record_json.h"

namespace haichi::report {
namespace {

CallRecord call() {
  CallRecord c;
  c.index = 300;
  c.event_call = -1;
  c.call = "MPI_File_write_all";
  c.handled = true;
  c.elapsed_ns = int64_t{1} << 62;
  c.bytes_inside = 1;
  c.bytes_between = 127;
  c.messages_between = 128;
  c.min_internode_bytes = -1;
  c.windows_whole = 63;
  c.windows_separate = 64;
  c.windows_rmw = INT64_MAX;
  c.bytes = INT64_MIN;
  c.file_begin = 5;
  c.file_end = 6;
  c.aggregators = {0, 70'000, 3};
  c.layout = "spread";
  c.order = "ring";
  c.window = 16;
  c.cycles = 12;
  c.why = {"a reason", std::string(300, 'b'), ""};
  return c;
}

std::string packed_words(const CallRecord& of) {
  std::string bytes;
  pack_words(bytes, of);
  return bytes;
}

TEST(LogRecords, OfACallComeBackAsTheyWere) {
  std::string numbers;
  CallRecord before = call();
  pack_call(numbers, -7, 3, before);
  LoggedCall after;
  ASSERT_TRUE(unpack_call(numbers, after));
  EXPECT_EQ(after.key, -7);
  EXPECT_EQ(after.words, 3);
  ASSERT_TRUE(unpack_words(packed_words(before), after.call));
  EXPECT_EQ(to_json(after.call), to_json(before));

  before.behind = std::make_shared<BehindTimes>();
  before.behind->ran_ns = 5;
  before.behind->waited_ns = 6;
  numbers.clear();
  pack_call(numbers, 1, 3, before);
  ASSERT_TRUE(unpack_call(numbers, after));
  EXPECT_EQ(to_json(after.call), to_json(before));
}

TEST(LogRecords, OfAFileAndTotalsComeBackAsTheyWere) {
  FileRecord before, after;
  before.key = 9;
  before.path = "data\xff";
  before.calls_seen = 1000;
  before.hints = {{"cb_nodes", "4"}, {"romio_cb_write", ""}};
  before.ignored_hints = {"one"};
  before.flattening = {1, 2, 3, INT64_MAX, 5};
  std::string bytes;
  pack_file(bytes, before);
  ASSERT_TRUE(unpack_file(bytes, after));
  EXPECT_EQ(to_json(after), to_json(before));

  Totals all, read;
  all.rank = 3;
  all.phase_ns[3] = 12;
  all.phase_bytes[2] = 13;
  all.accesses = {1, 2, 3};
  all.lost = 4;
  bytes.clear();
  pack(bytes, all);
  ASSERT_TRUE(unpack(bytes, read));
  EXPECT_EQ(std::tuple(read.rank, read.phase_ns[3], read.phase_bytes[2], read.lost),
            std::tuple(3, 12, 13, 4));
  EXPECT_EQ(to_json(read.accesses), to_json(all.accesses));
}

TEST(LogRecords, OfACollectiveComeBackAsTheyWere) {
  CollectiveRecord before, after;
  before.collective = "MPI_Alltoall";
  before.ranks = 16;
  before.nodes = 4;
  before.size_bin = 10;
  before.calls = 1000;
  before.retries = 1;
  before.locked = true;
  before.seconds = 0.125;
  before.chosen = "pairwise";
  before.why = "by trial";
  before.candidates = {{.name = "library", .trials = {1e-3, 2e-9}, .dropped = true},
                       {.name = "pairwise",
                        .trials = {},
                        .steady_calls = 900,
                        .steady_seconds = 1.0 / 3,
                        .predicted = 1e-5,
                        .reason = "within 3 times"}};
  std::string words, counts;
  pack_collective(words, before);
  pack_counts(counts, before);
  ASSERT_TRUE(unpack_collective(words, after));
  EXPECT_EQ(after.calls, 0);
  ASSERT_TRUE(unpack_counts(counts, after));
  EXPECT_EQ(to_json(after), to_json(before));
  after.candidates.pop_back();
  EXPECT_FALSE(unpack_counts(counts, after)) << "of another one";
}

TEST(LogRecords, OfWhichAPartIsMissingAreRefused) {
  std::string numbers;
  pack_call(numbers, 1, 2, call());
  const std::string words = packed_words(call());
  for (size_t cut = 0; cut < numbers.size(); ++cut) {
    LoggedCall logged;
    EXPECT_FALSE(unpack_call(std::string_view(numbers).substr(0, cut), logged)) << cut;
  }
  for (size_t cut = 0; cut < words.size(); ++cut) {
    CallRecord read;
    EXPECT_FALSE(unpack_words(std::string_view(words).substr(0, cut), read)) << cut;
  }
  LoggedCall logged;
  EXPECT_FALSE(unpack_call(numbers + "x", logged)) << "more than there should be";
  EXPECT_FALSE(unpack_call(std::string(100, '\xff'), logged));
}

TEST(LogRecords, OfAnOrdinaryCallAreSmall) {
  CallRecord usual;
  usual.elapsed_ns = 30'000;
  usual.bytes = usual.file_end = 1 << 20;
  std::string bytes;
  pack_call(bytes, 1, 2, usual);
  EXPECT_LE(bytes.size(), 40u);
}

}  // namespace
}  // namespace haichi::report
