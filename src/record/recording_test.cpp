#include "record/recording.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/os.h"
#include "record/write.h"

namespace haichi::record {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kNames[] = {"MPI_Send", "MPI_Recv", "MPI_Wait", nullptr};

Call call_of(uint16_t function, int64_t bytes, int64_t begin_ns, int64_t took_ns) {
  Call call;
  call.key.function = function;
  call.key.bytes = bytes;
  call.begin_ns = begin_ns;
  call.end_ns = begin_ns + took_ns;
  call.compute_ns = 10;
  return call;
}

/// The lines of a record of one rank, but for the first.
std::vector<json> lines_of(const PartView& view) {
  std::string text;
  const Sink sink = [&](std::string_view lines) {
    text += lines;
    return true;
  };
  const PartText part(view);
  SharedNumbers shared;
  Numbers numbers;
  EXPECT_TRUE(shared.give(part.wanted(), numbers, sink));
  EXPECT_TRUE(part.write(numbers, sink));
  std::vector<json> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

std::vector<json> of_kind(const std::vector<json>& lines, const char* kind) {
  std::vector<json> found;
  for (const json& line : lines)
    if (line["kind"] == kind) found.push_back(line);
  return found;
}

TEST(Recording, CountsCallsByTheirKeys) {
  Recording recording(-1, kNames, {.rank = 3, .ranks = 4, .now_ns = 1'000});
  for (const int64_t took : {100, 300, 50}) recording.add(call_of(0, 8, 2'000, took));
  recording.add(call_of(1, 8, 3'000, 70));
  recording.finish(1'000'001'000, 0);

  const auto lines = lines_of(recording.view());
  const auto calls = of_kind(lines, "call");
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0]["function"], "MPI_Send");
  EXPECT_EQ(calls[0]["ranks"], "3");
  EXPECT_EQ(calls[0]["count"], 3);
  EXPECT_DOUBLE_EQ(calls[0]["first_s"], 1e-7);
  EXPECT_DOUBLE_EQ(calls[0]["total_s"], 4.5e-7);
  EXPECT_DOUBLE_EQ(calls[0]["least_s"], 5e-8);
  EXPECT_DOUBLE_EQ(calls[0]["most_s"], 3e-7);
  const int first = calls[0]["histogram"]["first"];
  const std::vector<int> counts = calls[0]["histogram"]["counts"];
  EXPECT_EQ(first, bucket_of(50));
  EXPECT_EQ(counts[size_t(bucket_of(100) - first)], 1);
  EXPECT_EQ(counts[size_t(bucket_of(300) - first)], 1);
  EXPECT_EQ(int(counts.size()), bucket_of(300) - first + 1);

  const auto ranks = of_kind(lines, "rank");
  ASSERT_THAT(ranks, SizeIs(1));
  EXPECT_EQ(ranks[0]["calls"], 4);
  EXPECT_DOUBLE_EQ(ranks[0]["wall_s"], 1.0);
  EXPECT_DOUBLE_EQ(ranks[0]["mpi_s"], 5.2e-7);
  EXPECT_DOUBLE_EQ(ranks[0]["compute_s"], 4e-8);
  EXPECT_EQ(ranks[0]["finalized"], true);
  EXPECT_EQ(ranks[0]["full"], false);
}

TEST(Recording, SaysWhenItIsFull) {
  Recording recording(-1, kNames, {});
  const int more = int(kMostEntries) + 100;
  for (int i = 0; i < more; ++i) recording.add(call_of(0, i, 0, 10));
  recording.add(call_of(0, 5, 0, 10));  // has a key
  const auto lines = lines_of(recording.view());
  const auto ranks = of_kind(lines, "rank");
  EXPECT_EQ(ranks[0]["full"], true);
  EXPECT_EQ(ranks[0]["calls_without_key"], 100);
  EXPECT_EQ(ranks[0]["calls"], more + 1);
  EXPECT_THAT(of_kind(lines, "call"), SizeIs(kMostEntries));
}

TEST(Recording, NamesCommunicatorsFilesAndPlacesOfTheProgram) {
  Recording recording(-1, kNames, {});
  Call call = call_of(2, 8, 0, 10);
  call.key.began = 1;
  call.key.comm = recording.definitions().communicator(R"("members":"0,2")");
  call.key.file = recording.definitions().file(R"("name":"a \"b\"")");
  call.key.type = Shape::regular;
  call.key.place = Place::network;
  call.key.site = 0x5010;
  recording.definitions().add_object({0x5000, 0x6000, 0x4000, "/bin/program"});
  recording.add(call);
  EXPECT_EQ(recording.definitions().communicator(R"("members":"0,2")"), call.key.comm);

  const auto lines = lines_of(recording.view());
  EXPECT_EQ(of_kind(lines, "communicator")[0]["members"], "0,2");
  EXPECT_EQ(of_kind(lines, "file")[0]["name"], "a \"b\"");
  EXPECT_EQ(of_kind(lines, "site")[0]["object"], "/bin/program");
  EXPECT_EQ(of_kind(lines, "site")[0]["offset"], 0x1010);
  const json line = of_kind(lines, "call")[0];
  EXPECT_EQ(line["function"], "MPI_Wait");
  EXPECT_EQ(line["for"], "MPI_Recv");
  EXPECT_EQ(line["comm"], 0);
  EXPECT_EQ(line["file"], 0);
  EXPECT_EQ(line["site"], 0);
  EXPECT_EQ(line["place"], "network");
  EXPECT_EQ(line["type"], "regular");
}

TEST(Recording, CountsWhatWentToWhom) {
  Recording recording(-1, kNames, {});
  for (int i = 0; i < 3; ++i) recording.sent(7, Way::message, 100);
  recording.sent(2, Way::message, 1);
  recording.sent(7, Way::one_sided, 5);
  const auto traffic = of_kind(lines_of(recording.view()), "traffic");
  ASSERT_THAT(traffic, SizeIs(2));
  EXPECT_EQ(traffic[0]["way"], "message");
  EXPECT_EQ(traffic[0]["to"], json({2, 7}));
  EXPECT_EQ(traffic[0]["messages"], json({1, 3}));
  EXPECT_EQ(traffic[0]["bytes"], json({1, 300}));
  EXPECT_EQ(traffic[1]["way"], "one-sided");
}

TEST(Recording, PeersWithoutRoomAreTold) {
  Recording recording(-1, kNames, {});
  for (int peer = 0; peer < 20'000; ++peer) recording.sent(peer, Way::message, 1);
  const auto lines = lines_of(recording.view());
  EXPECT_EQ(of_kind(lines, "rank")[0]["traffic_full"], true);
  EXPECT_THAT(of_kind(lines, "traffic")[0]["to"], SizeIs(kSentSlots / 4 * 3));
}

class RecordingInFile : public ::testing::Test {
 protected:
  RecordingInFile() : path_(::testing::TempDir() + "haichi-part-" + std::to_string(getpid())) {}
  ~RecordingInFile() override { unlink(path_.c_str()); }
  int open_file() { return ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }

  const std::string path_;
};

TEST_F(RecordingInFile, WhatWasRecordedIsThereWithoutAnEnd) {
  Recording recording(open_file(), kNames, {.rank = 1, .ranks = 2, .now_ns = 500});
  ASSERT_TRUE(recording.memory().in_file());
  for (int i = 0; i < 1000; ++i) recording.add(call_of(0, i, 1'000, 10));
  recording.sent(4, Way::message, 9);

  // As another process finds it after a kill.
  const auto text = read_file(path_);
  ASSERT_TRUE(text) << text.error().text;
  PartView view = {};
  ASSERT_TRUE(view_part(std::as_bytes(std::span(*text)), view));
  const auto lines = lines_of(view);
  EXPECT_THAT(of_kind(lines, "call"), SizeIs(1000));
  EXPECT_THAT(of_kind(lines, "traffic"), SizeIs(1));
  EXPECT_EQ(of_kind(lines, "rank")[0]["finalized"], false);
  EXPECT_DOUBLE_EQ(of_kind(lines, "rank")[0]["wall_s"], 5.1e-7);
}

TEST_F(RecordingInFile, AFileThatCannotGrowIsGivenUpAndTheRecordGoesOn) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {300'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);  // beyond it a write ends the process by SIGXFSZ
  Recording recording(open_file(), kNames, {});
  for (int i = 0; i < 5000; ++i) recording.add(call_of(0, i, 0, 10));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(recording.memory().in_file());
  EXPECT_THAT(recording.memory().why_not(), HasSubstr("large"));
  EXPECT_THAT(of_kind(lines_of(recording.view()), "call"), SizeIs(5000));
}

TEST(ViewPart, RefusesOtherFilesAndTakesHalfOnes) {
  PartView view = {};
  EXPECT_FALSE(view_part({}, view));
  std::vector<std::byte> zeros(10'000);
  EXPECT_FALSE(view_part(zeros, view));

  Recording recording(-1, kNames, {});
  for (int i = 0; i < 10; ++i) recording.add(call_of(0, i, 0, 10));
  const auto* const bytes = reinterpret_cast<const std::byte*>(recording.view().head);
  ASSERT_TRUE(view_part({bytes, kEntriesAt + 3 * sizeof(Entry) + 5}, view));
  EXPECT_THAT(view.entries, SizeIs(3));
  ASSERT_TRUE(view_part({bytes, kTextAt}, view));
  EXPECT_THAT(view.text, IsEmpty());
}

TEST(SharedNumbers, AreTheSameForTheSameThing) {
  std::string lines;
  const Sink sink = [&](std::string_view more) {
    lines += more;
    return true;
  };
  SharedNumbers shared;
  Numbers first, second;
  ASSERT_TRUE(shared.give({{R"("members":"0-3")", R"("members":"0")"}, {}, {}}, first, sink));
  const std::string text =
      to_text({{R"("members":"1")", R"("members":"0-3")"}, {}, {R"("offset":1)"}});
  ASSERT_TRUE(shared.give(from_text(text), second, sink));
  EXPECT_EQ(first.communicators, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(second.communicators, (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(second.sites, std::vector<int32_t>{0});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
}

}  // namespace
}  // namespace haichi::record
