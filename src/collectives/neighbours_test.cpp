// Exchanges among neighbours on random graphs and grids, byte by byte.
#include "collectives/neighbours.h"

#include <gmock/gmock.h>

#include <map>

#include "collectives/algorithm.h"
#include "support/block_buffers.h"
#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::collectives {
namespace {

using placement::Placement;
using test::Random;

// One block of the program's: from which place of which rank to which.
struct Edge {
  int from, from_place, to, to_place;
  int64_t bytes;
};

// With whom each rank exchanges, and all blocks: those between two ranks in the order in which
// they match.
struct Case {
  std::vector<Neighbours> neighbours;
  std::vector<Edge> edges;
};

// `order[i]` is the i-th edge in somebody's list; nobody stands between some of them.
std::vector<int> listed(Random& random, std::vector<Edge>& edges, const std::vector<size_t>& order,
                        int Edge::* peer, int Edge::* place) {
  std::vector<int> ranks;
  for (const size_t i : order) {
    while (random.below(5) == 0) ranks.push_back(Neighbours::kNobody);
    edges[i].*place = int(ranks.size());
    ranks.push_back(edges[i].*peer);
  }
  return ranks;
}

// Any rank to any, itself too, and some several times. Sources are listed in another order than
// destinations, but for those of one rank.
Case random_graph(Random& random, int ranks) {
  Case made;
  for (int64_t i = random.below(4 * ranks + 1); i > 0; --i)
    made.edges.push_back({int(random.below(ranks)), 0, int(random.below(ranks)), 0,
                          random.below(3) == 0 ? 0 : random.mostly_small(40)});
  for (int me = 0; me < ranks; ++me) {
    std::vector<size_t> out, in;
    for (size_t i = 0; i < made.edges.size(); ++i) {
      if (made.edges[i].from == me) out.push_back(i);
      if (made.edges[i].to == me) in.push_back(i);
    }
    std::vector<int> turn(static_cast<size_t>(ranks));
    std::iota(turn.begin(), turn.end(), 0);
    random.shuffle(turn);
    std::stable_sort(in.begin(), in.end(), [&](size_t a, size_t b) {
      return turn[size_t(made.edges[a].from)] < turn[size_t(made.edges[b].from)];
    });
    std::vector<int> destinations = listed(random, made.edges, out, &Edge::to, &Edge::from_place);
    made.neighbours.push_back(Neighbours::of_graph(
        listed(random, made.edges, in, &Edge::from, &Edge::to_place), std::move(destinations)));
  }
  return made;
}

// What MPI 4.1 says of a grid: the block for the neighbour before is received by it from the
// neighbour after, and the other way round.
Case random_grid(Random& random) {
  std::vector<int> extents, strides;
  std::vector<bool> periodic;
  int ranks = 1;
  for (int64_t dimensions = random.between(1, 3); dimensions > 0; --dimensions) {
    strides.push_back(ranks);
    extents.push_back(int(random.between(1, 4)));
    periodic.push_back(random.below(2) == 0);
    ranks *= extents.back();
  }
  Case made;
  for (int me = 0; me < ranks; ++me) {
    std::vector<int> around;
    for (size_t d = 0; d < extents.size(); ++d)
      for (const int way : {-1, 1}) {
        const int at = me / strides[d] % extents[d], next = at + way, place = int(around.size());
        const bool inside = next >= 0 && next < extents[d];
        around.push_back(inside || periodic[d]
                             ? me + ((next + extents[d]) % extents[d] - at) * strides[d]
                             : Neighbours::kNobody);
        if (around.back() != Neighbours::kNobody)
          made.edges.push_back({me, place, around.back(), place ^ 1, random.below(40)});
      }
    made.neighbours.push_back(Neighbours::of_grid(around));
  }
  return made;
}

std::byte byte_of(const Edge& edge, size_t at) {
  return std::byte((size_t(edge.from) * 131 + size_t(edge.from_place) * 31 + at * 7 + 1) & 255);
}

void run_and_compare(const Case& of, const Placement& placement, const Candidate& candidate,
                     const test::CheckOptions& options) {
  const size_t ranks = of.neighbours.size();
  std::vector<std::vector<int64_t>> out(ranks), in(ranks);
  for (size_t me = 0; me < ranks; ++me) {
    out[me].resize(of.neighbours[me].destinations.size());
    in[me].resize(of.neighbours[me].sources.size());
  }
  for (const Edge& edge : of.edges) {
    out[size_t(edge.from)][size_t(edge.from_place)] = edge.bytes;
    in[size_t(edge.to)][size_t(edge.to_place)] = edge.bytes;
  }
  std::vector<std::unique_ptr<plan::Schedule>> schedules;
  std::vector<std::unique_ptr<test::BlockBuffers>> buffers;
  std::vector<plan::Schedule*> all_schedules;
  std::vector<plan::Buffers*> all_buffers;
  for (size_t me = 0; me < ranks; ++me) {
    Exchange x{&placement, int(me), 0, out[me], in[me], Kind::neighbours};
    x.neighbours = &of.neighbours[me];
    ASSERT_EQ(candidate.refusal(x), "");
    schedules.push_back(candidate.schedule(x));
    buffers.push_back(std::make_unique<test::BlockBuffers>(x, candidate.temporary(x)));
    all_schedules.push_back(schedules.back().get());
    all_buffers.push_back(buffers.back().get());
  }
  for (const Edge& edge : of.edges) {
    auto& block = buffers[size_t(edge.from)]->block(Exchange::send_buffer(edge.from_place));
    for (size_t i = 0; i < block.size(); ++i) block[i] = byte_of(edge, i);
  }
  const Status done = test::run_checked(all_schedules, all_buffers, options);
  ASSERT_TRUE(done) << done.error().text;
  for (const Edge& edge : of.edges) {
    const auto& block = buffers[size_t(edge.to)]->block(Exchange::receive_buffer(edge.to_place));
    ASSERT_EQ(int64_t(block.size()), edge.bytes);
    for (size_t i = 0; i < block.size(); ++i)
      ASSERT_EQ(block[i], byte_of(edge, i))
          << "byte " << i << " from place " << edge.from_place << " of " << edge.from
          << " to place " << edge.to_place << " of " << edge.to;
  }
}

// Ranks on nodes at random.
Placement dealt_out(Random& random, size_t ranks) {
  std::vector<int> nodes;
  for (size_t rank = 0; rank < ranks; ++rank) nodes.push_back(int(random.below(4)));
  return Placement(nodes);
}

template <class Make>
void try_cases(Make&& make) {
  for (int i = 0; i < 800; ++i) {
    Random random(uint64_t(i) + 1);
    const Case made = make(random);
    Candidate candidate = *parse_candidate("spread");
    candidate.parameters.order = plan::IssueOrder(random.below(4));
    candidate.parameters.window = int(random.below(4));
    const test::CheckOptions options{.seed = uint64_t(i),
                                     .completion = test::kCompletions[random.below(3)]};
    SCOPED_TRACE(candidate.text() + ", case " + std::to_string(i));
    run_and_compare(made, dealt_out(random, made.neighbours.size()), candidate, options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Neighbours, OfRandomGraphsGetTheirBytes) {
  try_cases([](Random& random) { return random_graph(random, int(random.between(1, 12))); });
}

TEST(Neighbours, OfRandomGridsGetTheirBytes) { try_cases(random_grid); }

TEST(Neighbours, WhatGoesOneWayComesFromTheOther) {
  EXPECT_THAT(Neighbours::of_grid({1, 1, 2, 3}).receive_order, testing::ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(Neighbours::of_graph({1, 1}, {1}).receive_order, testing::ElementsAre(0, 1));
}

TEST(Neighbours, NobodyIsNotRepeated) {
  constexpr int kNobody = Neighbours::kNobody;
  EXPECT_FALSE(Neighbours::of_grid({kNobody, 1, 2, kNobody}).repeated());
  EXPECT_TRUE(Neighbours::of_grid({1, 1}).repeated());
  EXPECT_TRUE(Neighbours::of_graph({0, 1, 0}, {0, 1}).repeated());
  EXPECT_TRUE(Neighbours::of_graph({}, {4, 4}).repeated());
}

TEST(Neighbours, AreSentToInTheIssueOrder) {
  const Placement placement = placement::block(4, 2);
  const Neighbours around = Neighbours::of_graph({}, {0, 3, 6, 4, 3});
  const std::vector<int64_t> out = {1, 2, 3, 4, 5};
  Exchange x{&placement, 2, 0, out, {}, Kind::neighbours};
  x.neighbours = &around;
  const auto schedule = parse_candidate("spread(nd_rank_shift,0)")->schedule(x);
  std::vector<std::pair<int, int64_t>> sent;
  for (plan::Step step; schedule->next(step);)
    if (step.kind == plan::Step::Kind::send) sent.emplace_back(step.peer, step.from.size);
  using Messages = std::vector<std::pair<int, int64_t>>;
  EXPECT_EQ(sent, (Messages{{4, 4}, {6, 3}, {0, 1}, {3, 2}, {3, 5}}));
}

TEST(Neighbours, AWindowThatNoRankFillsIsNoCandidate) {
  const auto texts = [](int most_peers) {
    std::vector<std::string> found;
    for (const Candidate& each :
         default_candidates(placement::block(8, 4), Kind::neighbours, false, most_peers))
      found.push_back(each.text());
    return found;
  };
  EXPECT_THAT(texts(6), testing::ElementsAre("spread(nd_rank_shift,0)", "spread(nd_rank_shift,4)",
                                             "spread(nd_rank_shift,1)", "spread(rank,0)"));
  EXPECT_THAT(texts(1), testing::ElementsAre("spread(nd_rank_shift,0)", "spread(rank,0)"));
}

}  // namespace
}  // namespace haichi::collectives
