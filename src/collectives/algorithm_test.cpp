// Every algorithm on thousands of random shapes: each rank gets the bytes that were meant for it,
// and no schedule breaks the rules of "Schedules" in docs/notes.md.
#include "collectives/algorithm.h"

#include <gmock/gmock.h>

#include <numeric>

#include "support/block_buffers.h"
#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::collectives {
namespace {

using placement::Placement;
using test::Random;
using testing::HasSubstr;

// What a rank has for all has no receiver.
constexpr int kAll = -1;

std::byte byte_of(int from, int to, size_t at) {
  return std::byte((size_t(from) * 131 + size_t(to) * 31 + at * 7 + 1) & 255);
}

// What kind of exchange, and how many bytes each rank has for each: one number, or some for each
// pair and many none; the same for all of them in an all-gather.
struct Sizes {
  int ranks;
  Kind kind;
  bool regular, in_place;
  std::vector<int64_t> bytes;
  Sizes(Random& random, int n, Kind what, bool equal)
      : ranks(n),
        kind(what),
        regular(equal),
        in_place(what == Kind::all_gather && random.below(2) == 0) {
    bytes.assign(size_t(n) * size_t(n), random.below(4) == 0 ? 0 : random.mostly_small(64));
    for (int64_t& each : bytes)
      if (!equal) each = random.below(3) == 0 ? 0 : random.mostly_small(40);
  }
  int64_t of(int from, int to) const {
    const int column = kind == Kind::all_gather ? 0 : to;
    return bytes[size_t(from) * size_t(ranks) + size_t(column)];
  }
  std::byte byte(int from, int to, size_t at) const {
    return byte_of(from, kind == Kind::all_gather ? kAll : to, at);
  }
};

void run_and_compare(const Candidate& candidate, const Placement& placement, const Sizes& sizes,
                     const test::CheckOptions& options) {
  const int ranks = placement.ranks();
  std::vector<std::vector<int64_t>> out, in;
  std::vector<Exchange> exchanges;
  std::vector<std::unique_ptr<plan::Schedule>> schedules;
  std::vector<std::unique_ptr<test::BlockBuffers>> buffers;
  for (int me = 0; me < ranks; ++me) {
    out.emplace_back(size_t(ranks));
    in.emplace_back(size_t(ranks));
    for (int peer = 0; peer < ranks; ++peer) {
      out.back()[size_t(peer)] = sizes.of(me, peer);
      in.back()[size_t(peer)] = sizes.of(peer, me);
    }
  }
  std::vector<plan::Schedule*> all_schedules;
  std::vector<plan::Buffers*> all_buffers;
  for (int me = 0; me < ranks; ++me) {
    Exchange x{&placement, me, sizes.of(0, 0)};
    if (!sizes.regular) x.out = out[size_t(me)], x.in = in[size_t(me)];
    x.kind = sizes.kind;
    x.in_place = sizes.in_place;
    ASSERT_EQ(candidate.refusal(x), "");
    schedules.push_back(candidate.schedule(x));
    buffers.push_back(std::make_unique<test::BlockBuffers>(x, candidate.temporary(x)));
    for (int peer = 0; peer < ranks; ++peer) {
      const int where = sizes.in_place ? Exchange::receive_buffer(me) : Exchange::send_buffer(peer);
      std::vector<std::byte>& block = buffers.back()->block(where);
      for (size_t i = 0; i < block.size(); ++i) block[i] = sizes.byte(me, peer, i);
    }
    all_schedules.push_back(schedules.back().get());
    all_buffers.push_back(buffers.back().get());
  }
  const Status done = test::run_checked(all_schedules, all_buffers, options);
  ASSERT_TRUE(done) << done.error().text;
  for (int me = 0; me < ranks; ++me)
    for (int peer = 0; peer < ranks; ++peer) {
      const auto& block = buffers[size_t(me)]->block(Exchange::receive_buffer(peer));
      for (size_t i = 0; i < block.size(); ++i)
        ASSERT_EQ(block[i], sizes.byte(peer, me, i))
            << "byte " << i << " from " << peer << " to " << me;
    }
}

Candidate with_random_parameters(const Algorithm& algorithm, Random& random) {
  Candidate candidate{&algorithm, {}};
  candidate.parameters.order = plan::IssueOrder(random.below(4));
  candidate.parameters.window = int(random.below(6));
  candidate.parameters.radix = int(random.between(2, 9));
  candidate.parameters.leaders = int(random.below(5));
  return candidate;
}

void try_cases(const Algorithm& algorithm, int cases, int max_ranks) {
  for (int i = 0; i < cases; ++i) {
    Random random(uint64_t(i) + 1);
    const Placement placement = test::random_placement(random, max_ranks);
    const Candidate candidate = with_random_parameters(algorithm, random);
    const bool regular = algorithm.what == For::equal_blocks || random.below(2) == 0;
    const bool gathers = algorithm.what == For::all_gather ||
                         (algorithm.what != For::equal_blocks && random.below(3) == 0);
    const Sizes sizes(random, placement.ranks(), gathers ? Kind::all_gather : Kind::all_to_all,
                      regular);
    const test::CheckOptions options{.seed = uint64_t(i),
                                     .completion = test::kCompletions[random.below(3)]};
    SCOPED_TRACE(candidate.text() + ", case " + std::to_string(i) +
                 (gathers ? ", all-gather: " : ": ") + test::describe(placement));
    run_and_compare(candidate, placement, sizes, options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, BringsEachByteToItsPlaceOnRandomPlacements) {
  try_cases(GetParam(), 800, 48);
}

TEST_P(EveryAlgorithm, BringsEachByteToItsPlaceOnHundredsOfRanks) {
  try_cases(GetParam(), 20, 600);
}

INSTANTIATE_TEST_SUITE_P(, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(Candidates, ReadWhatTheyWrite) {
  const Placement placement = placement::block(16, 4);
  for (const Kind kind : {Kind::all_to_all, Kind::all_gather, Kind::neighbours})
    for (const bool regular : {false, true})
      for (const Candidate& candidate : default_candidates(placement, kind, regular)) {
        const auto again = parse_candidate(candidate.text());
        ASSERT_TRUE(again) << candidate.text();
        EXPECT_EQ(*again, candidate);
        EXPECT_EQ(candidate.refusal(kind, regular), "") << candidate.text();
      }
  EXPECT_EQ(parse_candidate("spread(rank)")->text(), "spread(rank,0)");
  EXPECT_EQ(parse_candidate("node_aware(all)")->parameters.leaders, 0);
}

TEST(Candidates, RefuseWhatMakesNoSense) {
  for (const char* text : {"", "rings", "ring(2)", "bruck(1)", "bruck(2", "bruck(two)", "bruck()",
                           "spread(up)", "spread(rank,-1)", "spread(rank,1,2)", "node_aware(0)"}) {
    const auto candidate = parse_candidate(text);
    ASSERT_FALSE(candidate) << text;
    EXPECT_THAT(candidate.error().text, HasSubstr("node_aware(LEADERS)"));
  }
}

TEST(Candidates, SayWhatTheyAreNotFor) {
  const Placement placement = placement::block(2, 2);
  const std::vector<int64_t> sizes = {1, 2, 3, 4};
  const Exchange x{&placement, 0, 0, sizes, sizes};
  EXPECT_THAT(parse_candidate("bruck")->refusal(x), HasSubstr("one size"));
  EXPECT_THAT(parse_candidate("bruck")->refusal(Kind::all_gather, true), HasSubstr("all-to-all"));
  EXPECT_THAT(parse_candidate("relay")->refusal(x), HasSubstr("the same for all"));
  EXPECT_EQ(parse_candidate("ring")->refusal(x), "");
  EXPECT_THAT(parse_candidate("ring")->refusal(Kind::neighbours, false), HasSubstr("neighbours"));
}

// What a schedule sends, in order of its steps.
std::vector<std::pair<int, int64_t>> sends(const Candidate& candidate, const Exchange& x) {
  std::vector<std::pair<int, int64_t>> found;
  const auto schedule = candidate.schedule(x);
  for (plan::Step step; schedule->next(step);)
    if (step.kind == plan::Step::Kind::send) found.emplace_back(step.peer, step.from.size);
  return found;
}

TEST(Bruck, OfEightRanksSendsAsThePaperSays) {  // paper 004, section 3.1: 3 times 4 blocks
  const Placement placement = placement::block(8, 1);
  using Messages = std::vector<std::pair<int, int64_t>>;
  EXPECT_EQ(sends(*parse_candidate("bruck"), {&placement, 0, 10}),
            (Messages{{1, 40}, {2, 40}, {4, 40}}));
  EXPECT_EQ(sends(*parse_candidate("bruck(8)"), {&placement, 0, 10}),
            (Messages{{1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}, {6, 10}, {7, 10}}));
}

TEST(NodeAware, SendsOneMessageToEachOtherNode) {
  const Placement placement(std::vector<int>{0, 1, 1, 2, 2, 2, 3, 3, 3, 3});  // 1+2+3+4
  for (const char* text : {"node_aware(1)", "node_aware(2)", "node_aware(all)"}) {
    int between[4][4] = {};
    for (int me = 0; me < placement.ranks(); ++me)
      for (const auto& [peer, bytes] : sends(*parse_candidate(text), {&placement, me, 1})) {
        const int from = placement.node_of(me), to = placement.node_of(peer);
        between[from][to] += 1;
        if (from == to) continue;
        EXPECT_EQ(bytes, int64_t(placement.ranks_on(from).size() * placement.ranks_on(to).size()));
      }
    for (int from = 0; from < 4; ++from)
      for (int to = 0; to < 4; ++to)
        EXPECT_TRUE(from == to || between[from][to] == 1) << text << ' ' << from << ' ' << to;
  }
}

// How many bytes go from each node to others, with one byte a rank.
std::vector<int64_t> bytes_between_nodes(const char* text, const Placement& placement) {
  std::vector<int64_t> leaving(size_t(placement.nodes()), 0);
  for (int me = 0; me < placement.ranks(); ++me) {
    const Exchange x{&placement, me, 1, {}, {}, Kind::all_gather};
    for (const auto& [peer, bytes] : sends(*parse_candidate(text), x))
      if (!placement.same_node(me, peer)) leaving[size_t(placement.node_of(me))] += bytes;
  }
  return leaving;
}

TEST(AllGather, EachNodeSendsItsBlocksOnceWhateverThePlacement) {
  for (const Placement& placement : {placement::block(4, 3), placement::round_robin(4, 3)}) {
    EXPECT_THAT(bytes_between_nodes("node_gather(1)", placement), testing::Each(3 * 3));
    EXPECT_THAT(bytes_between_nodes("node_gather(all)", placement), testing::Each(3 * 3));
    EXPECT_THAT(bytes_between_nodes("relay", placement), testing::Each(11));
  }
  EXPECT_THAT(bytes_between_nodes("spread", placement::block(4, 3)), testing::Each(3 * 9));
}

TEST(Doubling, OfNineRanksTakesTwoStepsOfTwoMessages) {
  const Placement placement = placement::block(9, 1);
  const Exchange x{&placement, 0, 10, {}, {}, Kind::all_gather};
  using Messages = std::vector<std::pair<int, int64_t>>;
  EXPECT_EQ(sends(*parse_candidate("doubling(3)"), x),
            (Messages{{8, 10}, {7, 10}, {6, 30}, {3, 30}}));
}

TEST(Ring, BarriersAndWordsAreMessagesOfNoBytes) {
  const Placement placement = placement::block(8, 1);
  const Exchange x{&placement, 3, 5};
  const auto count = [&](const char* text) { return sends(*parse_candidate(text), x).size(); };
  EXPECT_EQ(count("ring"), 7u);
  EXPECT_EQ(count("ring_one_barrier"), 7u + 3);
  EXPECT_EQ(count("ring_mpi_barrier"), 7u + 7 * 3);
  EXPECT_EQ(count("ring_light_barrier"), 7u + 7);
}

}  // namespace
}  // namespace haichi::collectives
