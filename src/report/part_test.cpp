#include "report/part.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/header.h"
#include "report/rank_text.h"
#include "report/tree.h"

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
class SomeParts : public ::testing::Test {
 protected:
  SomeParts() : world_(placement::block(2, 2)), settings_(Settings::from_environment(nothing_)) {}

  void say(int rank, std::vector<FileRecord> files, std::vector<trace::Event> events = {},
           std::map<std::string, int64_t> notes = {}) {
    trace::Recorder recorder(100, 2);
    for (const trace::Event& event : events) recorder.add(event);
    recorder.sent(1, rank);
    part_.add_rank(rank_text({.rank = rank,
                              .node = rank / 2,
                              .recorder = recorder,
                              .accesses = {},
                              .files = {std::move(files), 0},
                              .collectives = {},
                              .notes = std::move(notes)},
                             kBounds));
  }

  json report() {
    return json::parse(part_.report(header({.command = "./app",
                                            .id = "",
                                            .started_unix_s = 0,
                                            .wall_s = 1.5,
                                            .abi = "mpich",
                                            .library = "a library",
                                            .world = world_,
                                            .settings = settings_})));
  }

  static constexpr const char* const nothing_[] = {nullptr};
  const placement::Placement world_;
  const Settings settings_;
  static constexpr Bounds kBounds = {.ranks = 4, .nodes = 2, .bytes = 1 << 20};
  Part part_ = Part(kBounds);
};

TEST_F(SomeParts, SumsWhatTheRanksSayOfOneCall) {
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

TEST_F(SomeParts, TheReasonsAreThoseOfTheFilesFirstRankWhoeverSpeaksFirst) {
  say(0, {file_of(7, "data", {call_of(0, 0, 5)})});
  auto first = call_of(0, 0, 10);
  first.why = {"a reason"};
  first.layout = "packed";
  say(1, {file_of(7, "data", {first})});
  const json call = report()["files"][0]["calls"][0];
  EXPECT_EQ(call["why"], json({"a reason"}));
  EXPECT_EQ(call["layout"], "packed");
}

TEST_F(SomeParts, OpensOfOnePathAreOneFileAndCallsKeepTheirEvents) {
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

TEST_F(SomeParts, CountsTrafficFromNodeToNodeAndNotes) {
  for (int rank = 0; rank < 4; ++rank) say(rank, {}, {}, {{"seen", 1}});
  const json all = report();
  EXPECT_EQ(all["traffic"]["bytes"], json({{0, 1}, {0, 5}}));
  EXPECT_EQ(all["notes"], json({"seen (4 times)"}));
  EXPECT_EQ(all["ranks"].size(), 4u);
}

TEST_F(SomeParts, ATextThatIsNoJsonCountsAsNone) {
  say(0, {});
  EXPECT_FALSE(part_.add_rank("{\"rank\": 1, \"fil"));
  EXPECT_FALSE(part_.add(""));
  EXPECT_EQ(report()["ranks"].size(), 1u);
}

TEST_F(SomeParts, SayTheSameInOnePartAndInSeveral) {
  auto first = call_of(0, 5, 10);
  first.why = {"a reason"};
  const auto tell = [&](int rank) {
    say(rank, {file_of(7, "data", {rank == 0 ? first : call_of(0, 5, rank)})},
        {{.call = 5, .begin_ns = 1500, .end_ns = 2500, .bytes = rank}}, {{"seen", 1}});
  };
  for (int rank = 0; rank < 4; ++rank) tell(rank);
  const json together = report();
  part_ = Part(kBounds);
  for (const int rank : {2, 3}) tell(rank);
  const std::string others = part_.text();
  part_ = Part(kBounds);
  for (const int rank : {0, 1}) tell(rank);
  EXPECT_TRUE(part_.add(others));
  EXPECT_EQ(report(), together);
  EXPECT_EQ(together["files"][0]["calls"][0]["bytes_between"], 16);
}

/// A job of so many ranks and nodes that has done as much as a report can say, with texts as long
/// as they come.
class LargeJob {
 public:
  LargeJob(int ranks, int nodes)
      : bounds_{.ranks = ranks, .nodes = nodes, .bytes = 1 << 20},
        world_(placement::block(nodes, ranks / nodes)) {
    std::vector<placement::RankPlace> places(size_t(ranks), {127, 128, 7});
    world_.set_places(std::move(places));
  }

  /// What rank 0 writes, after all have told the one above.
  std::string report() {
    const int ranks = world_.ranks();
    std::vector<std::string> told(static_cast<size_t>(ranks));
    for (int rank = ranks - 1;; --rank) {
      Part part(bounds_);
      part.add_rank(text_of(rank));
      for (const int below : below(rank, ranks)) {
        largest_ = std::max(largest_, int64_t(told[size_t(below)].size()));
        if (rank == 0) at_rank_0_ = std::max(at_rank_0_, int64_t(told[size_t(below)].size()));
        EXPECT_TRUE(part.add(told[size_t(below)]));
        told[size_t(below)].clear();
      }
      if (rank > 0) {
        told[size_t(rank)] = part.text();
        continue;
      }
      return part.report(header({.command = "./app",
                                 .id = "1",
                                 .started_unix_s = 0,
                                 .wall_s = 1.5,
                                 .abi = "mpich",
                                 .library = "a library",
                                 .world = world_,
                                 .settings = settings_}));
    }
  }
  int64_t largest_message() const { return largest_; }
  int64_t largest_at_rank_0() const { return at_rank_0_; }

 private:
  std::string text_of(int rank) {
    trace::Recorder recorder(16, world_.nodes());
    for (int i = 0; i < 16; ++i)
      recorder.add({.call = i,
                    .cycle = i,
                    .phase = trace::Phase(i % 4),
                    .begin_ns = int64_t{1'000'000'007} * i,
                    .end_ns = int64_t{1'000'000'007} * i + 123'457 + rank,
                    .bytes = 123'456'789});
    for (int n = 0; n < world_.nodes(); ++n) recorder.sent(n, 1'000'000 + n);
    std::vector<FileRecord> files;
    for (int64_t key = 0; key < 3; ++key) {
      std::vector<CallRecord> calls;
      for (int64_t i = 0; i < (rank == 0 ? 100 : 10); ++i) {
        calls.push_back(call_of(i, int32_t(i), 1000 + rank));
        if (rank == 0) calls.back().why.push_back(std::string(1000, 'w'));
      }
      files.push_back(file_of(key, std::string(200, 'p') + std::to_string(key), std::move(calls)));
    }
    std::vector<CollectiveRecord> collectives(rank % 16 == 0 ? 10 : 0);
    for (CollectiveRecord& each : collectives) {
      each.collective = "MPI_Alltoall";
      each.why = std::string(200, 'w');
      each.candidates.resize(15, {"bruck(4)", std::vector<double>(5, 1.0 / 3), false});
    }
    return rank_text(
        {.rank = rank,
         .node = world_.node_of(rank),
         .recorder = recorder,
         .accesses = {1600, 1'234'567'891, 1'234'567'891'234},
         .files = {std::move(files), 0},
         .collectives = {std::move(collectives), 0},
         .notes = {{fmt::format("of rank {}: {}", rank, std::string(100, 'n')), 1}, {"of all", 1}}},
        bounds_);
  }

  static constexpr const char* const nothing_[] = {nullptr};
  const Bounds bounds_;
  placement::Placement world_;
  const Settings settings_ = Settings::from_environment(nothing_);
  int64_t largest_ = 0, at_rank_0_ = 0;
};

TEST(ReportOfALargeJob, HasAMiBAtMostAndNoRankHasMore) {
  for (const auto& [ranks, nodes] : {std::pair{1024, 8}, {1024, 1024}}) {
    LargeJob job(ranks, nodes);
    const std::string text = job.report();
    EXPECT_LE(text.size(), size_t{1} << 20) << nodes << " nodes";
    EXPECT_LE(job.largest_message(), int64_t{1} << 20);
    RecordProperty(fmt::format("bytes_{}_nodes", nodes), int(text.size()));
    RecordProperty(fmt::format("largest_message_{}_nodes", nodes), int(job.largest_message()));
    const json report = json::parse(text);
    EXPECT_EQ(report["program"]["ranks"], 1024);
    EXPECT_FALSE(report["ranks"].empty());
    EXPECT_EQ(report["notes"].front(), "of all (1024 times)");
    EXPECT_EQ(report["files"][0]["calls"][0]["bytes_between"], 1024 * 1000 + 1023 * 1024 / 2);
    if (!report.contains("others")) continue;
    EXPECT_EQ(report["ranks"].size() + report["others"]["ranks"].get<size_t>(), 1024u);
    EXPECT_EQ(report["others"]["phases"]["read"]["ranks"], 1024);
    EXPECT_EQ(report["others"]["phases"]["read"]["rank_of_max"], 1023) << "the slowest";
    EXPECT_EQ(report["ranks"].back()["rank"], 1023) << "is listed";
  }
}

TEST(ReportOfALargeJob, TakesNoMoreOfRank0WhereThereAreMoreRanks) {
  LargeJob job(512, 8), larger(1024, 8), wider(512, 128);
  const auto size = int64_t(job.report().size());
  const auto larger_size = int64_t(larger.report().size());
  const auto wider_size = int64_t(wider.report().size());
  EXPECT_LE(larger.largest_at_rank_0(), job.largest_at_rank_0() + 4096);
  EXPECT_LE(larger_size, size + 512 * 40) << "where each rank sits on its node";
  RecordProperty("at_rank_0_of_512_ranks_8_nodes", int(job.largest_at_rank_0()));
  RecordProperty("at_rank_0_of_1024_ranks_8_nodes", int(larger.largest_at_rank_0()));
  RecordProperty("at_rank_0_of_512_ranks_128_nodes", int(wider.largest_at_rank_0()));
  // A node: its name, its sums, where it sent.
  EXPECT_LE(wider.largest_at_rank_0(), job.largest_at_rank_0() + 120 * 512);
  EXPECT_LE(wider_size, size + 120 * 512);
}

TEST(Storage, IsSummedOverTheRanksThatKnowIt) {
  const Bounds bounds{.ranks = 3, .nodes = 1};
  const trace::Recorder recorder(1, 1);
  const auto said = [&](int rank, std::optional<StorageRecord> storage) {
    return rank_text({.rank = rank,
                      .node = 0,
                      .recorder = recorder,
                      .accesses = {},
                      .files = {},
                      .collectives = {},
                      .notes = {},
                      .storage = storage},
                     bounds);
  };
  Part below(bounds), all(bounds);
  below.add_rank(said(1, StorageRecord{1, 2, 3, 4}));
  below.add_rank(said(2, std::nullopt));
  all.add_rank(said(0, StorageRecord{10, 20, 30, 40}));
  all.add(below.text());
  const json storage = json::parse(all.report(R"({"placement":{"nodes":[{}]}})"))["storage"];
  EXPECT_EQ(
      storage,
      json({{"ranks", 2}, {"read", 11}, {"written", 22}, {"mpi_read", 33}, {"mpi_written", 44}}));
  Part unknown(bounds);
  unknown.add_rank(said(0, std::nullopt));
  EXPECT_FALSE(json::parse(unknown.report(R"({"placement":{"nodes":[{}]}})")).contains("storage"));
}

TEST(Tree, EachRankTellsOneAbove) {
  for (const int size : {1, 2, 3, 7, 64, 1000})
    for (int position = 0; position < size; ++position) {
      for (const int each : below(position, size)) EXPECT_EQ(above(each), position);
      if (position == 0) continue;
      const auto of_above = below(above(position), size);
      EXPECT_THAT(of_above, ::testing::Contains(position));
    }
}

}  // namespace
}  // namespace haichi::report
