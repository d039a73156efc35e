#include "report/rank_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace haichi::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

CallRecord call_of(int64_t index, int32_t event_call) {
  CallRecord call;
  call.index = index;
  call.event_call = event_call;
  call.call = "MPI_File_write_all";
  call.handled = true;
  call.elapsed_ns = 2'000'000;
  return call;
}

class RankText : public ::testing::Test {
 protected:
  RankText() : recorder_(1000, 2) {}

  json said(int64_t most_bytes = 1 << 20) {
    return json::parse(rank_text({.rank = 1,
                                  .node = 1,
                                  .recorder = recorder_,
                                  .accesses = {},
                                  .files = files_,
                                  .collectives = collectives_,
                                  .notes = {{"a note", 3}}},
                                 {.ranks = 4, .nodes = 2, .bytes = most_bytes}));
  }

  void add_file(size_t calls) {
    FileRecord file;
    file.key = 7;
    file.path = "data";
    file.calls_seen = int64_t(calls);
    for (size_t i = 0; i < calls; ++i) file.calls.push_back(call_of(int64_t(i), int32_t(i)));
    files_.records.push_back(std::move(file));
  }

  trace::Recorder recorder_;
  KeptRecords<FileRecord> files_;
  KeptRecords<CollectiveRecord> collectives_;
};

TEST_F(RankText, SaysTimesInSecondsAndEventsInMicroseconds) {
  recorder_.add({.call = 5,
                 .cycle = 2,
                 .phase = trace::Phase::write,
                 .begin_ns = 1000,
                 .end_ns = 4000,
                 .bytes = 9});
  recorder_.sent(1, 30);
  add_file(1);
  const json rank = said();
  EXPECT_EQ(rank["events"], json({{5, 2, "write", 1.0, 4.0, 9}}));
  EXPECT_DOUBLE_EQ(rank["seconds"]["write"].get<double>(), 3e-6);
  EXPECT_EQ(rank["sent_to"], json({0, 30}));
  EXPECT_DOUBLE_EQ(rank["files"][0]["calls"][0]["seconds"].get<double>(), 2e-3);
  EXPECT_FALSE(rank["files"][0]["calls"][0].contains("bytes_must_cross"));
  EXPECT_EQ(rank["notes"]["a note"], 3);
}

TEST_F(RankText, CountsTheWaitForACallBehindTheProgram) {
  add_file(1);
  auto behind = std::make_shared<BehindTimes>();
  behind->ran_ns = 5'000'000;
  behind->waited_ns = 1'000'000;
  files_.records[0].calls[0].behind = behind;
  const json call = said()["files"][0]["calls"][0];
  EXPECT_DOUBLE_EQ(call["seconds"].get<double>(), 3e-3);
  EXPECT_DOUBLE_EQ(call["thread_seconds"].get<double>(), 5e-3);
}

TEST_F(RankText, LeavesOutTheLastEventsAndNotesIt) {
  for (int i = 0; i < 1000; ++i) recorder_.add({.call = i, .bytes = i});
  const int64_t most_bytes = 64 << 10;
  const json rank = said(most_bytes);
  const auto kept = int64_t(rank["events"].size());
  EXPECT_GT(kept, 50);
  EXPECT_LE(int64_t(rank["events"].dump().size()), most_bytes / 4);
  EXPECT_EQ(rank["events"][size_t(kept - 1)][0], kept - 1) << "the first ones are kept";
  EXPECT_EQ(rank["events_dropped"], 1000 - kept);
  EXPECT_THAT(rank["notes"].dump(), HasSubstr("no room for all events of a rank"));
  EXPECT_EQ(said()["events"].size(), 1000u);
}

TEST_F(RankText, NotesWhatWasNotKept) {
  files_.not_listed = 2;
  collectives_.not_listed = 3;
  const json notes = said()["notes"];
  EXPECT_EQ(notes["more than 200 files were opened; later ones are not listed"], 2);
  EXPECT_EQ(notes["collectives of more communicators and sizes than are listed"], 3);
}

TEST_F(RankText, ABrokenNameIsNoReasonToSayNothing) {
  add_file(1);
  files_.records[0].path = "\xff\xfe";
  EXPECT_EQ(said()["files"].size(), 1u);
}

}  // namespace
}  // namespace haichi::report
