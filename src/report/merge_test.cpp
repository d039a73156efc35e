#include "report/merge.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/rank_text.h"

namespace haichi::report {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

CallRecord call_of(int64_t index, int32_t event_call, int64_t bytes_between) {
  CallRecord call;
  call.index = index;
  call.event_call = event_call;
  call.call = "MPI_File_write_all";
  call.handled = true;
  call.bytes_between = bytes_between;
  return call;
}

FileRecord file_of(int64_t key, std::string path, std::vector<CallRecord> calls) {
  FileRecord file;
  file.key = key;
  file.path = std::move(path);
  file.calls_seen = int64_t(calls.size());
  file.calls = std::move(calls);
  return file;
}

/// Four ranks on two nodes, of which each says what it is told to.
class Merge : public ::testing::Test {
 protected:
  Merge() : world_(placement::block(2, 2)), settings_(Settings::from_environment(nothing_)) {}

  void say(int rank, std::vector<FileRecord> files, std::vector<trace::Event> events = {},
           std::map<std::string, int64_t> notes = {}) {
    trace::Recorder recorder(100, 2);
    for (const trace::Event& event : events) recorder.add(event);
    recorder.sent(1, rank);
    append(rank_text({.rank = rank,
                      .ranks = 4,
                      .node = rank / 2,
                      .recorder = recorder,
                      .accesses = {},
                      .files = {std::move(files), 0},
                      .collectives = {},
                      .notes = std::move(notes)},
                     1 << 20));
  }

  void append(const std::string& text) {
    if (texts_.begins.empty()) texts_.begins.push_back(0);
    texts_.all += text;
    texts_.begins.push_back(texts_.all.size());
  }

  json report() const {
    return json::parse(merged(header({.command = "./app",
                                      .id = "",
                                      .started_unix_s = 0,
                                      .wall_s = 1.5,
                                      .abi = "mpich",
                                      .library = "a library",
                                      .world = world_,
                                      .settings = settings_}),
                              texts_));
  }

  static constexpr const char* const nothing_[] = {nullptr};
  const placement::Placement world_;
  const Settings settings_;
  RankTexts texts_;
};

TEST_F(Merge, SumsWhatTheRanksSayOfOneCall) {
  auto first = call_of(0, 0, 10);
  first.why = {"a reason"};
  first.bytes = 100;
  say(0, {file_of(7, "data", {first})});
  say(1, {file_of(7, "data", {call_of(0, 0, 5)})});
  const json file = report()["files"][0];
  ASSERT_EQ(file["calls"].size(), 1u);
  EXPECT_EQ(file["calls"][0]["bytes_between"], 15);
  EXPECT_EQ(file["calls"][0]["bytes"], 100);
  EXPECT_EQ(file["calls"][0]["why"], json({"a reason"}));
  EXPECT_EQ(file["opens"], 1);
  EXPECT_EQ(file["access"], "collective");
}

TEST_F(Merge, TheReasonsAreThoseOfTheFilesFirstRankWhoeverSpeaksFirst) {
  say(0, {file_of(7, "data", {call_of(0, 0, 5)})});
  auto first = call_of(0, 0, 10);
  first.why = {"a reason"};
  first.layout = "packed";
  say(1, {file_of(7, "data", {first})});
  const json call = report()["files"][0]["calls"][0];
  EXPECT_EQ(call["why"], json({"a reason"}));
  EXPECT_EQ(call["layout"], "packed");
}

TEST_F(Merge, OpensOfOnePathAreOneFileAndCallsKeepTheirEvents) {
  say(0,
      {file_of(7, "data", {call_of(0, 3, 1)}), file_of(9, "data", {call_of(0, 4, 2)}),
       file_of(8, "other", {call_of(0, 5, 3)})},
      {{.call = 3, .bytes = 1}, {.call = 4, .bytes = 2}, {.call = 77, .bytes = 3}});
  const json all = report();
  ASSERT_EQ(all["files"].size(), 2u);
  EXPECT_EQ(all["files"][0]["path"], "data");
  EXPECT_EQ(all["files"][0]["opens"], 2);
  ASSERT_EQ(all["files"][0]["calls"].size(), 2u);
  const json& rank = all["ranks"][0];
  ASSERT_EQ(rank["events"].size(), 2u);
  EXPECT_EQ(rank["events"][0][0], all["files"][0]["calls"][0]["index"]);
  EXPECT_EQ(rank["events"][1][0], all["files"][0]["calls"][1]["index"]);
  EXPECT_EQ(rank["events_dropped"], 1) << "of a call that is not listed";
}

TEST_F(Merge, CountsTrafficFromNodeToNodeAndNotes) {
  for (int rank = 0; rank < 4; ++rank) say(rank, {}, {}, {{"seen", 1}});
  const json all = report();
  EXPECT_EQ(all["traffic"]["bytes"], json({{0, 1}, {0, 5}}));
  EXPECT_EQ(all["notes"], json({"seen (4 times)"}));
  EXPECT_EQ(all["ranks"].size(), 4u);
}

TEST_F(Merge, ATextThatIsNoJsonCountsAsNone) {
  say(0, {});
  append("{\"rank\": 1, \"fil");
  EXPECT_EQ(report()["ranks"].size(), 1u);
}

TEST_F(Merge, SaysThatRank0SpokeAlone) {
  say(0, {});
  texts_.only_rank_0 = true;
  EXPECT_EQ(report()["notes"].size(), 1u);
}

}  // namespace
}  // namespace haichi::report
