#include "record/read_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "record/sequence_json.h"

namespace haichi::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHead =
    R"({"kind":"record","schema":"haichi.record/1","by":"haichi 0.1","started":"2026-11-27T05:00:00Z",)"
    R"("program":["lmp","-in","x"],"abi":"openmpi","ranks":4,"placement":{"schema":)"
    R"("haichi.placement/1","nodes":[{"name":"a","ranks":"0-1"},{"name":"b","ranks":"2-3"}]},)"
    R"("signature":{"library":"Open MPI v4.1.4","processor":"x","cores":2,"node_names":["a","b"]},)"
    R"("sync":true,"sequence":true})"
    "\n";
const std::string kEnd = "{\"kind\":\"end\",\"ranks\":4,\"calls\":1}\n";

Result<Record> read(const std::string& text, const Wanted& wanted = {}) {
  std::istringstream in(text);
  return read_record(in, wanted);
}

std::string error_of(const std::string& lines) {
  const auto record = read(kHead + lines + kEnd);
  return record ? "" : record.error().text;
}

TEST(ReadRecord, ReadsAllThatItTells) {
  const auto record = read(
      kHead +
      R"({"kind":"communicator","id":1,"members":"2,0-1","cart":{"dims":[3,1],"periods":[true,false]}}
{"kind":"communicator","id":0,"name":"MPI_COMM_WORLD","members":"0-3"}
{"kind":"communicator","id":2,"members":"0","remote":"3","graph":true}
{"kind":"file","id":0,"name":"out.dat"}
{"kind":"site","id":0,"object":"/bin/x","offset":4660}
{"kind":"rank","rank":3,"wall_s":12.5,"mpi_s":3.1,"compute_s":9.2,"cpu_s":12.1,"calls":1000,"finalized":false,"full":true,"calls_without_key":7}
{"kind":"call","ranks":"0-3","function":"MPI_Wait","for":"MPI_Irecv","bytes":8,"type":"regular","comm":0,"place":"network","first_use":true,"file":0,"view":"contiguous","site":0,"count":10,"first_s":1e-5,"total_s":1e-4,"least_s":8e-6,"most_s":2e-5,"wait_s":0.5,"histogram":{"first":50,"counts":[1,0,9]}}
{"kind":"traffic","rank":0,"way":"one-sided","to":[1,2],"messages":[10,20],"bytes":[80,160]}
{"kind":"of another haichi","what":1}
)" + kEnd);
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_TRUE(record->complete);
  EXPECT_THAT(record->notes, IsEmpty());
  EXPECT_EQ(record->ranks, 4);
  EXPECT_EQ(record->abi, "openmpi");
  EXPECT_TRUE(record->sync);
  EXPECT_THAT(record->program, ElementsAre("lmp", "-in", "x"));
  EXPECT_EQ(record->placement, placement::block(2, 2));
  EXPECT_EQ(record->placement.node_name(1), "b");
  EXPECT_EQ(record->signature.cores, 2);
  ASSERT_EQ(record->communicators.size(), 3u);
  EXPECT_EQ(record->communicator(0)->name, "MPI_COMM_WORLD");
  EXPECT_THAT(record->communicator(1)->members, ElementsAre(2, 0, 1));
  EXPECT_THAT(record->communicator(1)->dims, ElementsAre(3, 1));
  EXPECT_THAT(record->communicator(1)->periods, ElementsAre(true, false));
  EXPECT_THAT(record->communicator(2)->remote, ElementsAre(3));
  EXPECT_TRUE(record->communicator(2)->graph);
  EXPECT_EQ(record->communicator(3), nullptr);
  EXPECT_EQ(record->files[0].name, "out.dat");
  EXPECT_EQ(record->sites[0].offset, 4660u);
  EXPECT_EQ(record->times[0].rank, 3);
  EXPECT_EQ(record->times[0].wall_s, 12.5);
  EXPECT_FALSE(record->times[0].finalized);
  EXPECT_TRUE(record->times[0].full);
  const Calls& calls = record->calls[0];
  EXPECT_THAT(calls.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(calls.begun_by, "MPI_Irecv");
  EXPECT_EQ(calls.wait_s, 0.5);
  EXPECT_EQ(calls.histogram_first, 50);
  EXPECT_THAT(calls.histogram, ElementsAre(1, 0, 9));
  EXPECT_TRUE(record->traffic[0].one_sided);
  EXPECT_THAT(record->traffic[0].bytes, ElementsAre(80, 160));
  EXPECT_FALSE(record->sequences[0]);
}

Sequence example() {
  Sequence sequence;
  Event send{.call = "MPI_Isend", .bytes = 65536, .comm = 0, .peer = 3, .tag = 7, .request = 0};
  send.compute_s = 1.25e-5;
  send.took_s = 3e-6;
  send.compute_most_s = 2e-3;
  const Event receive{.call = "MPI_Irecv", .bytes = 0, .comm = 1, .peer = kAnyRank, .tag = kAnyTag};
  const Event both{.call = "MPI_Sendrecv",
                   .bytes = 1,
                   .comm = 0,
                   .peer = 1,
                   .tag = 2,
                   .from = 2,
                   .from_tag = 3,
                   .from_bytes = 4};
  const Event wait{.call = "MPI_Waitall", .completes = {0, 5}};
  const Event gather{
      .call = "MPI_Gatherv", .bytes = 5, .root = 2, .file = 1, .window = 2, .received = 9};
  sequence.events = {send, receive, both, wait, gather};
  Item inner{.times = 3, .body = {Item{.event = 3}, Item{.event = 4}}};
  sequence.program = {Item{.event = 0}, Item{.times = 100, .body = {Item{.event = 1}, inner}},
                      Item{.event = 2}};
  return sequence;
}

TEST(ReadRecord, ASequenceComesBackAsItWasWritten) {
  Sequence sequence = example();
  for (const bool cut : {false, true}) {
    sequence.cut = cut;
    const std::string line = sequence_line(2, sequence);
    const auto record = read(kHead + line + "\n" + kEnd);
    ASSERT_TRUE(record) << record.error().text;
    EXPECT_EQ(*record->sequences[2], sequence);
    EXPECT_EQ(record->notes.size(), cut ? 1u : 0u);
  }
  EXPECT_THAT(sequence_line(2, sequence), HasSubstr(R"("program":[0,[100,[1,[3,[3,4]]]],2])"));
}

TEST(ReadRecord, SkipsWhatIsNotWanted) {
  const std::string line = sequence_line(2, example()) + "\n";
  const auto record = read(kHead + line +
                               R"({"kind":"call","ranks":"0","function":"MPI_Send","count":1})"
                               "\n" +
                               kEnd,
                           {.calls = false, .traffic = false, .sequences = false});
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->calls.empty());
  EXPECT_FALSE(record->sequences[2]);
}

TEST(ReadRecord, OfAFileThatIsCutOffWhatIsThereIsUsed) {
  const std::string line = sequence_line(0, example()) + "\n";
  const std::string whole = kHead + line + sequence_line(1, example()) + "\n" + kEnd;
  size_t with_both = 0;
  for (size_t size = kHead.size(); size < whole.size(); ++size) {
    const auto record = read(whole.substr(0, size));
    ASSERT_TRUE(record) << size << ": " << record.error().text;
    ASSERT_EQ(record->sequences[0].has_value(), size + 1 >= kHead.size() + line.size());
    with_both += record->sequences[1].has_value();
    if (size + 1 < whole.size()) {
      ASSERT_FALSE(record->complete) << size;
      EXPECT_THAT(record->notes.back(), HasSubstr("it has no last line"));
    }
  }
  EXPECT_GT(with_both, 1u);
  const auto record = read(whole.substr(0, kHead.size() + 20));
  EXPECT_THAT(record->notes[0], HasSubstr("line 2 is cut off"));
}

TEST(ReadRecord, SaysWhatIsNoRecord) {
  EXPECT_THAT(read("").error().text, HasSubstr("it is empty"));
  EXPECT_THAT(read("#!/bin/sh\n").error().text, HasSubstr("line 1: "));
  EXPECT_THAT(read("{}\n").error().text, HasSubstr("no record of a run; `haichi run --record`"));
  EXPECT_THAT(read("[1]\n").error().text, HasSubstr("line 1: this is no record of a run"));
  EXPECT_THAT(
      read(R"({"kind":"record","schema":"haichi.record/2"})").error().text,
      HasSubstr(R"(its schema is "haichi.record/2", and this haichi reads haichi.record/1)"));
  EXPECT_THAT(read(R"({"kind":"record","schema":"haichi.record/1"})").error().text,
              HasSubstr("line 1: ranks is missing"));
  EXPECT_THAT(read_record_file("/not/there").error().text, "/not/there: No such file or directory");
}

TEST(ReadRecord, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](const std::string& line) { return error_of(line + "\n"); };
  EXPECT_EQ(wrong(R"({"kind":"rank","rank":4})"),
            "line 2: rank takes a whole number from 0 up to 3, not 4");
  EXPECT_EQ(wrong(R"({"kind":"rank","rank":1.5})"),
            "line 2: rank takes a whole number from 0 up to 3, not 1.5");
  EXPECT_EQ(wrong(R"({"kind":"rank"})"), "line 2: rank is missing");
  EXPECT_EQ(wrong(R"({"rank":1})"), "line 2: kind is missing");
  EXPECT_EQ(wrong(R"({"kind":"rank","rank":1,"wall_s":"x"})"),
            "line 2: wall_s takes a number from 0, not \"x\"");
  EXPECT_EQ(wrong(R"({"kind":"communicator","id":0,"members":"0-4"})"),
            "line 2: members takes each of the ranks from 0 up to 3 once, such as \"0-3,8\", not "
            "\"0-4\"");
  EXPECT_EQ(
      wrong(R"({"kind":"communicator","id":0,"members":"0","cart":{"dims":[1],"periods":[]}})"),
      "line 2: cart.periods takes one for each of dims, not []");
  EXPECT_EQ(
      wrong(
          R"({"kind":"communicator","id":0,"members":"0-3","cart":{"dims":[3],"periods":[true]}})"),
      "line 2: cart.dims takes numbers whose product is the number of members, not [3]");
  EXPECT_EQ(wrong("{\"kind\":\"file\",\"id\":3}\n{\"kind\":\"file\",\"id\":3}"),
            "two files have the id 3; record the program anew");
  EXPECT_EQ(
      wrong(R"({"kind":"traffic","rank":0,"way":"message","to":[1],"messages":[],"bytes":[1]})"),
      "line 2: messages takes one for each of to, not []");
  EXPECT_THAT(wrong("{\"kind\":\"rank\",\"rank\":\n"), HasSubstr("line 2: parse error"));
  const auto sequence = [&](const std::string& rest) {
    return wrong(R"({"kind":"sequence","rank":0,)" + rest + "}");
  };
  EXPECT_EQ(sequence(R"("events":[])"), "line 2: program is missing");
  EXPECT_EQ(
      sequence(R"("program":[0],"events":[])"),
      "line 2: program takes numbers of its 0 events, from 0, and loops [times, [...]], not 0");
  EXPECT_THAT(sequence(R"("program":[[0,[0]]],"events":[{"call":"MPI_Wait"}])"),
              HasSubstr("not [0,[0]]"));
  EXPECT_EQ(sequence(R"("program":[],"events":[{"call":"MPI_Send","peer":9}])"),
            "line 2: events[0].peer takes a whole number from 0 up to 3, not 9");
  EXPECT_EQ(sequence(R"("program":[],"events":[{"bytes":9}])"),
            "line 2: events[0].call is missing");
  std::string deep = "0";
  for (int i = 0; i < 200; ++i) deep = "[2,[" + deep + "]]";
  EXPECT_EQ(sequence(R"("events":[{"call":"MPI_Wait"}],"program":[)" + deep + "]"),
            "line 2: program nests deeper than 100 loops");
  const std::string line = sequence_line(1, example());
  EXPECT_EQ(wrong(line + "\n" + line), "line 3: rank 1 has a second sequence");
}

TEST(ReadRecord, LengthsDoNotOverflow) {
  Sequence sequence = example();
  for (int i = 0; i < 20; ++i)
    sequence.program = {Item{.times = 1000, .body = std::move(sequence.program)}};
  EXPECT_EQ(length(sequence), UINT64_MAX);
  EXPECT_EQ(length(example()), 702u);
}

}  // namespace
}  // namespace haichi::record
