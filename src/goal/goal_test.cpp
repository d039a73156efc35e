#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "goal/messages.h"
#include "goal/parse.h"
#include "goal/read_goal.h"
#include "goal/record_text.h"
#include "goal/write_goal.h"
#include "record/read_record.h"
#include "replay/plan.h"

namespace haichi::goal {
namespace {

using record::Communicator;
using record::Event;
using record::Item;
using record::Record;
using record::Sequence;
using replay::Collective;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Record record_of(std::vector<Sequence> sequences) {
  Record record;
  record.ranks = int(sequences.size());
  record.placement = placement::block(record.ranks, 1);
  Communicator world{.id = 0};
  for (int rank = 0; rank < record.ranks; ++rank) world.members.push_back(rank);
  record.communicators.push_back(world);
  for (auto& sequence : sequences) record.sequences.emplace_back(std::move(sequence));
  return record;
}

// One event after the other, all of it so often.
Sequence rounds(uint64_t times, std::vector<Event> events) {
  Sequence sequence{std::move(events), {{.times = times}}};
  for (size_t i = 0; i < sequence.events.size(); ++i)
    sequence.program[0].body.push_back({.event = int(i)});
  return sequence;
}

std::string written(const Record& record, std::vector<std::string>* notes = nullptr) {
  char* text = nullptr;
  size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  const auto done = write_goal(record, out);
  fclose(out);
  const std::string goal(text, size);
  free(text);
  EXPECT_TRUE(done) << done.error().text;
  if (notes != nullptr && done) *notes = done->notes;
  return goal;
}

Result<Record> read(const std::string& text) {
  std::istringstream in(text);
  return read_goal(in);
}

// --- Collectives -------------------------------------------------------------------------------

// Carries out the rounds of all ranks; whether every receive finds its send, in order.
struct Delivered {
  bool all = true;
  std::map<std::pair<int, int>, std::vector<int64_t>> messages;  // from, to -> bytes
};

Delivered deliver(Collective collective, int ranks, int root, int64_t bytes,
                  const replay::Sums* sums, const Communicator& comm) {
  std::vector<std::vector<Round>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rounds_of({collective, rank, ranks, root, bytes, sums, comm}));
  std::map<std::pair<int, int>, std::vector<int64_t>> sent, received;
  std::vector<size_t> at(all.size()), begun(all.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto me = size_t(rank);
      if (at[me] == all[me].size()) continue;
      const Round& round = all[me][at[me]];
      if (begun[me] == at[me]) {
        for (const Message& each : round)
          if (each.sends) sent[{rank, each.peer}].push_back(each.bytes);
        ++begun[me];
      }
      auto there = received;
      bool complete = true;
      for (const Message& each : round) {
        if (each.sends) continue;
        auto& got = there[{each.peer, rank}];
        const auto& come = sent[{each.peer, rank}];
        complete = complete && got.size() < come.size() && come[got.size()] == each.bytes;
        got.push_back(each.bytes);
      }
      if (!complete) continue;
      received = std::move(there);
      ++at[me];
      moved = true;
    }
  }
  Delivered delivered{true, sent};
  for (size_t rank = 0; rank < all.size(); ++rank)
    delivered.all = delivered.all && at[rank] == all[rank].size();
  for (const auto& [pair, messages] : sent)
    delivered.all = delivered.all && received[pair].size() == messages.size();
  return delivered;
}

TEST(Messages, EveryCollectiveComesToItsEnd) {
  for (int ranks = 1; ranks <= 13; ++ranks)
    for (int which = 1; which <= int(Collective::neighbor_alltoall); ++which)
      for (const int root : {0, ranks - 1, ranks / 2}) {
        Communicator comm{.id = 0, .dims = {ranks}, .periods = {which % 2 == 0}};
        replay::Sums sums;
        for (int rank = 0; rank < ranks; ++rank) {
          sums.sent.push_back(rank * 10);
          sums.received.push_back(rank * rank);
        }
        const auto collective = Collective(which);
        const auto done = deliver(collective, ranks, root, 100,
                                  replay::is_varying(collective) ? &sums : nullptr, comm);
        EXPECT_TRUE(done.all) << which << " of " << ranks << " at " << root;
      }
}

size_t messages(const Delivered& delivered) {
  size_t all = 0;
  for (const auto& [pair, bytes] : delivered.messages) all += bytes.size();
  return all;
}

TEST(Messages, AreAsManyAsTheAlgorithmsHave) {
  const Communicator comm{.id = 0, .dims = {3, 4}, .periods = {true, false}};
  const auto of = [&](Collective which) {
    return messages(deliver(which, 12, 5, 8, nullptr, comm));
  };
  EXPECT_EQ(of(Collective::barrier), 12u * 4);
  EXPECT_EQ(of(Collective::bcast), 11u);
  EXPECT_EQ(of(Collective::reduce), 11u);
  EXPECT_EQ(of(Collective::allreduce), 22u);
  EXPECT_EQ(of(Collective::gather), 11u);
  EXPECT_EQ(of(Collective::allgather), 12u * 11);
  EXPECT_EQ(of(Collective::alltoall), 12u * 11);
  EXPECT_EQ(of(Collective::scan), 11u);
  EXPECT_EQ(of(Collective::neighbor_alltoall), 12u * 2 + 2u * 3 * 3);
}

// --- Writing -----------------------------------------------------------------------------------

TEST(WriteGoal, WritesWhatRequiresWhat) {
  const Event isend{.call = "MPI_Isend", .bytes = 8, .comm = 0, .peer = 1, .tag = 5, .request = 0};
  Event wait{.call = "MPI_Wait", .completes = {0}}, last{.call = "MPI_Send", .comm = 0, .peer = 1};
  wait.compute_s = 1e-6;
  last.bytes = 9;
  const Event first{.call = "MPI_Recv", .bytes = 8, .comm = 0, .peer = 0, .tag = 5};
  const Event second{.call = "MPI_Recv", .bytes = 9, .comm = 0, .peer = 0};
  EXPECT_EQ(written(record_of({rounds(1, {isend, wait, last}), rounds(1, {first, second})})),
            R"(num_ranks 2

rank 0 {
l1: send 8b to 1 tag 2
l2: calc 1000
l2 irequires l1
l3: send 9b to 1 tag 1
l3 requires l2
l3 requires l1
}

rank 1 {
l1: recv 8b from 0 tag 2
l2: recv 9b from 0 tag 1
l2 requires l1
}
)");
}

TEST(WriteGoal, GivesReceivesFromAnyTheirSenders) {
  const Event any{.call = "MPI_Recv", .bytes = 8, .comm = 0, .peer = record::kAnyRank, .tag = -1};
  const Event named{.call = "MPI_Recv", .bytes = 8, .comm = 0, .peer = 1, .tag = 3};
  const auto send = [](int tag) {
    return Event{.call = "MPI_Send", .bytes = 8, .comm = 0, .peer = 0, .tag = tag};
  };
  std::vector<std::string> notes;
  const std::string goal = written(record_of({rounds(1, {any, any, any, named}),
                                              rounds(1, {send(3), send(4)}), rounds(2, {send(3)})}),
                                   &notes);
  EXPECT_THAT(notes, IsEmpty());
  std::istringstream in(goal);
  const auto programs = parse_goal(in);
  ASSERT_TRUE(programs) << programs.error().text;
  std::multiset<std::pair<int, int>> from;
  for (const Operation& each : (*programs)[0].operations) from.insert({each.peer, each.tag});
  std::multiset<std::pair<int, int>> sent;
  for (const int rank : {1, 2})
    for (const Operation& each : (*programs)[size_t(rank)].operations)
      sent.insert({rank, each.tag});
  EXPECT_EQ(from, sent);
}

TEST(WriteGoal, RefusesWhatIsTooLong) {
  const Record record =
      record_of({rounds(1'000'000'000'000, {{.call = "MPI_Barrier", .comm = 0}})});
  EXPECT_THAT(write_goal(record, stdout).error().text,
              HasSubstr("1000000000000 calls are too many"));
  EXPECT_THAT(write_goal(record_of({{}}), stdout).error().text, HasSubstr("no sequences of calls"));
}

TEST(WriteGoal, SaysThatTheDiskIsFull) {
  FILE* full = fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  const auto done = write_goal(
      record_of({rounds(10'000, {{.call = "MPI_Barrier", .comm = 0, .compute_s = 1}})}), full);
  fclose(full);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("No space left on device"));
}

// --- Reading -----------------------------------------------------------------------------------

TEST(ReadGoal, OrdersByDependences) {
  const auto record = read(R"(num_ranks 2
rank 0 {
l3: calc 500 cpu 0
l1: send 10b to 1 tag 7 cpu 0 nic 0   // begins at once
l2: recv 4 from 1
l3 requires l2
l2 irequires l1
}
rank 1 {
a: recv 10b from 0 tag 7
b: send 4b to 0
b requires a
}
)");
  ASSERT_TRUE(record) << record.error().text;
  std::vector<std::string> calls;
  record::Unfolded events(*record->sequences[0]);
  while (const auto event = events.next()) {
    const Event& each = record->sequences[0]->events[size_t(*event)];
    calls.push_back(fmt::format("{} {} {:.0f}", each.call, each.bytes, each.compute_s * 1e9));
  }
  EXPECT_THAT(calls, ElementsAre("MPI_Isend 10 0", "MPI_Irecv 4 0", "MPI_Waitall -1 0",
                                 "MPI_Waitall -1 500"));
  EXPECT_THAT(replay::Plan(*record).skipped(), IsEmpty());
}

TEST(ReadGoal, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](const std::string& lines) {
    const auto record = read("num_ranks 2\nrank 0 {\n" + lines);
    return record ? "" : record.error().text;
  };
  EXPECT_EQ(read("").error().text, "it is no GOAL: that begins with num_ranks N");
  EXPECT_EQ(read("num_ranks 0\n").error().text, "line 1: GOAL begins with num_ranks N");
  EXPECT_EQ(read("num_ranks 2\nrank 2 {\n").error().text,
            "line 2: here 'rank R {' is expected, with R up to 1");
  EXPECT_EQ(wrong("l1: calc 1\n"), "it is cut off: rank 0 has no }");
  EXPECT_EQ(wrong("l1: calc 1\nl1: calc 1\n}\n"), "line 4: label l1 is there twice");
  EXPECT_EQ(wrong("l1: send 8b to 2\n}\n"), "line 3: send takes 'to R' with a rank up to 1");
  EXPECT_EQ(wrong("l1: send xb to 1\n}\n"),
            "line 3: an operation is 'calc N', 'send Nb to R' or 'recv Nb from R'");
  EXPECT_EQ(wrong("l1: send 8b to 1 tag x\n}\n"),
            "line 3: 'tag' is not tag, cpu or nic with a number from 0");
  EXPECT_EQ(wrong("l1: calc 1\nl1 requires l2\n}\n"),
            "line 4: no operation of rank 0 above has the label l2");
  EXPECT_EQ(wrong("l1 needs l2\n}\n"),
            "line 3: 'l1' is no label:, no dependence (a requires b) and no }");
  EXPECT_EQ(wrong("a: calc 1\nb: calc 1\na requires b\nb requires a\n}\n"),
            "rank 0: its dependences make a circle");
}

// --- There and back ----------------------------------------------------------------------------

// What each rank sends and receives of each channel, in order, and how long it computes.
struct Content {
  std::map<std::tuple<int, int, int>, std::vector<int64_t>> messages;
  std::vector<int64_t> computing;

  friend bool operator==(const Content&, const Content&) = default;
};

Content content_of(const std::string& goal) {
  std::istringstream in(goal);
  const auto programs = parse_goal(in);
  EXPECT_TRUE(programs) << programs.error().text;
  Content content;
  std::map<std::pair<int, int>, int> tags;  // by their first use
  for (size_t rank = 0; programs && rank < programs->size(); ++rank) {
    int64_t computing = 0;
    for (const Operation& each : (*programs)[rank].operations) {
      if (each.kind == Operation::Kind::calc) {
        computing += each.amount;
        continue;
      }
      const bool sends = each.kind == Operation::Kind::send;
      const int sign = sends ? 1 : -1;
      content.messages[{int(rank), sign * (each.peer + 1), each.tag}].push_back(each.amount);
    }
    content.computing.push_back(computing);
  }
  return content;
}

// Ranks that compute, exchange with others and reduce, at random but with both sides of everything.
Record random_program(uint32_t seed) {
  std::mt19937 random(seed);
  const int ranks = 2 + int(random() % 5);
  std::vector<std::vector<Event>> events;
  events.resize(size_t(ranks));
  const auto computing = [&](Event event) {
    event.compute_s = double(random() % 1000) * 1e-9;
    return event;
  };
  for (int step = 0; step < 12; ++step) {
    const auto bytes = int64_t(1 + random() % 10'000);
    if (random() % 3 == 0) {
      const char* names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall",
                             "MPI_Bcast",   "MPI_Alltoallv", "MPI_Allgather"};
      const Event call{.call = names[random() % 6],
                       .bytes = bytes,
                       .comm = 0,
                       .root = int(random() % unsigned(ranks)),
                       .received = bytes};
      for (auto& each : events) each.push_back(computing(call));
      continue;
    }
    const int from = int(random() % unsigned(ranks));
    const int to = (from + 1 + int(random() % unsigned(ranks - 1))) % ranks;
    const int tag = int(random() % 3);
    auto &sender = events[size_t(from)], &receiver = events[size_t(to)];
    if (random() % 2 == 0) {
      sender.push_back(
          computing({.call = "MPI_Send", .bytes = bytes, .comm = 0, .peer = to, .tag = tag}));
      receiver.push_back(
          computing({.call = "MPI_Recv", .bytes = bytes, .comm = 0, .peer = from, .tag = tag}));
    } else {
      sender.push_back(computing(
          {.call = "MPI_Isend", .bytes = bytes, .comm = 0, .peer = to, .tag = tag, .request = 0}));
      receiver.push_back(computing({.call = "MPI_Irecv",
                                    .bytes = bytes,
                                    .comm = 0,
                                    .peer = from,
                                    .tag = tag,
                                    .request = 0}));
      for (auto* each : {&sender, &receiver})
        each->push_back(computing({.call = "MPI_Wait", .completes = {0}}));
    }
  }
  std::vector<Sequence> sequences;
  for (auto& each : events) sequences.push_back(rounds(1 + seed % 3, std::move(each)));
  return record_of(std::move(sequences));
}

TEST(Goal, ComesBackAsItWent) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<std::string> notes;
    const std::string goal = written(random_program(seed), &notes);
    ASSERT_THAT(notes, IsEmpty());
    const auto back = read(goal);
    ASSERT_TRUE(back) << back.error().text;
    // Through the file form too: it has six digits of a computing time, which are enough here.
    std::istringstream in(record_text(*back));
    const auto record = record::read_record(in);
    ASSERT_TRUE(record) << record.error().text;
    ASSERT_THAT(record->notes, IsEmpty());
    const std::string again = written(*record, &notes);
    ASSERT_THAT(notes, IsEmpty());
    Content first = content_of(goal), second = content_of(again);
    // Tags are numbered anew, in the order that they had.
    ASSERT_EQ(first.messages.size(), second.messages.size()) << seed;
    auto other = second.messages.begin();
    for (const auto& [channel, bytes] : first.messages) ASSERT_EQ((other++)->second, bytes) << seed;
    for (size_t rank = 0; rank < first.computing.size(); ++rank)
      ASSERT_NEAR(double(first.computing[rank]), double(second.computing[rank]), 2) << seed;
  }
}

}  // namespace
}  // namespace haichi::goal
