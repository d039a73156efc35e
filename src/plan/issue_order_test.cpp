#include "plan/issue_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using placement::Placement;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr IssueOrder kAll[] = {IssueOrder::rank, IssueOrder::pairwise, IssueOrder::nd_shift,
                               IssueOrder::nd_rank_shift};

std::vector<int> all_peers(const Placement& placement, IssueOrder order, int me) {
  const PeerOrder peers(placement, order, me);
  std::vector<int> list(static_cast<size_t>(peers.size()));
  for (int k = 0; k < peers.size(); ++k) list[size_t(k)] = peers.peer(k);
  return list;
}

// Paper 000, Algorithms 1 and 2, line by line with their names: the reference.
std::vector<int> algorithm_1(int nprocs, int nr_nodes, int my_node_id,
                             const std::vector<int>& node_id) {
  std::vector<int> comm_ranklist, used_rank(size_t(nprocs), 0);
  for (int i = 0; i <= nr_nodes - 1; ++i) {
    const int dest_node_id = (my_node_id + i + 1) % nr_nodes;
    for (int j = 0; j <= nprocs - 1; ++j) {
      if (used_rank[size_t(j)] == 0 && dest_node_id == node_id[size_t(j)]) {
        comm_ranklist.push_back(j);
        used_rank[size_t(j)] = 1;
      }
    }
  }
  return comm_ranklist;
}

std::vector<int> algorithm_2(int nprocs, int nr_nodes, int my_node_id, int my_node_rank,
                             const std::vector<int>& node_id, const std::vector<int>& node_nprocs) {
  std::vector<int> comm_ranklist, used_rank(size_t(nprocs), 0);
  for (int i = 0; i <= nr_nodes - 1; ++i) {
    std::vector<int> cand_rank;
    const int dest_node_id = (my_node_id + i + 1) % nr_nodes;
    const int dest_node_nprocs = node_nprocs[size_t(dest_node_id)];
    if (dest_node_nprocs > 0) {
      for (int j = 0; j <= nprocs - 1; ++j) {
        if (used_rank[size_t(j)] == 0 && node_id[size_t(j)] == dest_node_id) {
          cand_rank.push_back(j);
          used_rank[size_t(j)] = 1;
        }
      }
      for (int j = 0; j < dest_node_nprocs; ++j)
        comm_ranklist.push_back(cand_rank[size_t((my_node_rank + j) % dest_node_nprocs)]);
    }
  }
  return comm_ranklist;
}

// What the paper's algorithms take as input, counted here from node ids alone.
struct PaperInput {
  std::vector<int> node_id, node_nprocs, node_rank;
  explicit PaperInput(const std::vector<int>& given) {
    std::vector<int> seen;
    for (const int id : given) {
      const auto at = std::find(seen.begin(), seen.end(), id);
      node_id.push_back(int(at - seen.begin()));
      if (at == seen.end()) {
        seen.push_back(id);
        node_nprocs.push_back(0);
      }
      node_rank.push_back(node_nprocs[size_t(node_id.back())]++);
    }
  }
  std::vector<int> reference(IssueOrder order, int me) const {
    const int nprocs = int(node_id.size()), nr_nodes = int(node_nprocs.size());
    std::vector<int> list;
    switch (order) {
      case IssueOrder::rank:
        for (int k = 0; k < nprocs; ++k) list.push_back(k);
        return list;
      case IssueOrder::pairwise:
        for (int k = 0; k < nprocs; ++k) list.push_back((me + k) % nprocs);
        return list;
      case IssueOrder::nd_shift:
        return algorithm_1(nprocs, nr_nodes, node_id[size_t(me)], node_id);
      case IssueOrder::nd_rank_shift:
        return algorithm_2(nprocs, nr_nodes, node_id[size_t(me)], node_rank[size_t(me)], node_id,
                           node_nprocs);
    }
    return list;
  }
};

TEST(IssueOrderNames, AreThoseOfThePaper) {
  for (const IssueOrder order : kAll) EXPECT_EQ(issue_order_from(name_of(order)), order);
  EXPECT_EQ(name_of(IssueOrder::nd_rank_shift), "nd_rank_shift");
  for (const char* unknown : {"", "Rank", "nd", "nd_rank_shift "})
    EXPECT_FALSE(issue_order_from(unknown)) << unknown;
}

// Figures 4 to 7: 2 nodes, 4 ranks on each, filled node by node. One row per rank.
using Rows = std::vector<std::vector<int>>;

Rows rows_of(IssueOrder order) {
  const Placement figure = placement::block(2, 4);
  Rows rows;
  for (int me = 0; me < 8; ++me) rows.push_back(all_peers(figure, order, me));
  return rows;
}

TEST(IssueOrder, Figure4RankOrderIsTheSameForAll) {
  EXPECT_EQ(rows_of(IssueOrder::rank), Rows(8, {0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(IssueOrder, Figure5PairwiseBeginsAtItself) {
  EXPECT_EQ(rows_of(IssueOrder::pairwise), (Rows{{0, 1, 2, 3, 4, 5, 6, 7},
                                                 {1, 2, 3, 4, 5, 6, 7, 0},
                                                 {2, 3, 4, 5, 6, 7, 0, 1},
                                                 {3, 4, 5, 6, 7, 0, 1, 2},
                                                 {4, 5, 6, 7, 0, 1, 2, 3},
                                                 {5, 6, 7, 0, 1, 2, 3, 4},
                                                 {6, 7, 0, 1, 2, 3, 4, 5},
                                                 {7, 0, 1, 2, 3, 4, 5, 6}}));
}

TEST(IssueOrder, Figure6NdShiftBeginsAtTheNextNode) {
  EXPECT_EQ(rows_of(IssueOrder::nd_shift), (Rows{{4, 5, 6, 7, 0, 1, 2, 3},
                                                 {4, 5, 6, 7, 0, 1, 2, 3},
                                                 {4, 5, 6, 7, 0, 1, 2, 3},
                                                 {4, 5, 6, 7, 0, 1, 2, 3},
                                                 {0, 1, 2, 3, 4, 5, 6, 7},
                                                 {0, 1, 2, 3, 4, 5, 6, 7},
                                                 {0, 1, 2, 3, 4, 5, 6, 7},
                                                 {0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(IssueOrder, Figure7NdRankShiftAlsoTurnsWithinTheNode) {
  EXPECT_EQ(rows_of(IssueOrder::nd_rank_shift), (Rows{{4, 5, 6, 7, 0, 1, 2, 3},
                                                      {5, 6, 7, 4, 1, 2, 3, 0},
                                                      {6, 7, 4, 5, 2, 3, 0, 1},
                                                      {7, 4, 5, 6, 3, 0, 1, 2},
                                                      {0, 1, 2, 3, 4, 5, 6, 7},
                                                      {1, 2, 3, 0, 5, 6, 7, 4},
                                                      {2, 3, 0, 1, 6, 7, 4, 5},
                                                      {3, 0, 1, 2, 7, 4, 5, 6}}));
}

TEST(IssueOrder, UnequalAndInterleavedNodes) {
  // Node 0: ranks 0 2 5; node 1: rank 1; node 2: ranks 3 4.
  const Placement placement(std::vector<int>{7, 3, 7, 9, 9, 7});
  EXPECT_THAT(all_peers(placement, IssueOrder::nd_shift, 5), ElementsAre(1, 3, 4, 0, 2, 5));
  EXPECT_THAT(all_peers(placement, IssueOrder::nd_rank_shift, 5), ElementsAre(1, 3, 4, 5, 0, 2));
  EXPECT_THAT(all_peers(placement, IssueOrder::nd_rank_shift, 2), ElementsAre(1, 4, 3, 2, 5, 0));
  EXPECT_THAT(all_peers(placement, IssueOrder::nd_rank_shift, 4), ElementsAre(2, 5, 0, 1, 4, 3));
}

TEST(IssueOrder, OneRankSendsToItself) {
  for (const IssueOrder order : kAll)
    EXPECT_THAT(all_peers(placement::block(1, 1), order, 0), ElementsAre(0));
}

TEST(IssueOrder, IsAlgorithms1And2OnAnyPlacement) {
  test::Random random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::vector<int> ids = test::random_node_ids(random, 160);
    const Placement placement(ids);
    const PaperInput paper(ids);
    const int me = int(random.below(placement.ranks()));
    for (const IssueOrder order : kAll)
      ASSERT_EQ(all_peers(placement, order, me), paper.reference(order, me))
          << "trial " << trial << ", rank " << me << ", " << name_of(order) << ", "
          << test::describe(placement);
  }
}

TEST(IssueOrder, EveryRankMeetsEachPeerOnceAndPositionIsTheInverse) {
  test::Random random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const Placement placement = test::random_placement(random, 160);
    for (const IssueOrder order : kAll)
      for (int me = 0; me < placement.ranks(); ++me) {
        const PeerOrder peers(placement, order, me);
        for (int rank = 0; rank < placement.ranks(); ++rank)
          ASSERT_EQ(peers.peer(peers.position_of(rank)), rank)
              << "trial " << trial << ", rank " << me << ", " << name_of(order) << ", "
              << test::describe(placement);
      }
  }
}

TEST(IssueOrder, HoldsForAHundredThousandRanks) {
  test::Random random(3);
  for (int trial = 0; trial < 12; ++trial) {
    const std::vector<int> ids = [&] {
      for (;;) {  // shapes and sizes as they come, but large
        auto some = test::random_node_ids(random, 100'000);
        if (some.size() > 50'000) return some;
      }
    }();
    const Placement placement(ids);
    const auto inverse_holds = [&](const PeerOrder& peers) {
      for (int k = 0; k < peers.size(); ++k)
        if (peers.position_of(peers.peer(k)) != k) return false;
      return true;  // injective, and therefore each rank once
    };
    const int ranks = placement.ranks();
    for (const IssueOrder order : kAll)
      for (const int me : {0, ranks - 1, int(random.below(ranks)), int(random.below(ranks))})
        ASSERT_TRUE(inverse_holds(PeerOrder(placement, order, me)))
            << "trial " << trial << ", rank " << me << " of " << ranks << ", " << name_of(order);
  }
}

TEST(IssueOrder, IsTheAlgorithmsAtAHundredThousandRanks) {
  std::vector<int> ids(100'000);  // 8 nodes of unequal size, interleaved
  test::Random random(4);
  for (int& id : ids) id = int(random.below(random.below(8) + 1));
  const Placement placement(ids);
  const PaperInput paper(ids);
  for (const int me : {0, 54'321, 99'999})
    for (const IssueOrder order : {IssueOrder::nd_shift, IssueOrder::nd_rank_shift})
      EXPECT_EQ(all_peers(placement, order, me), paper.reference(order, me)) << me;
}

// How many messages each rank receives when every rank issues its k-th.
std::vector<int> received_at(const Placement& placement, IssueOrder order, int k) {
  std::vector<int> count(size_t(placement.ranks()));
  for (int me = 0; me < placement.ranks(); ++me)
    ++count[size_t(PeerOrder(placement, order, me).peer(k))];
  return count;
}

// The bounds that issue_order.h states; proofs in docs/notes.md, "Issue orders".
TEST(IssueOrderSpread, PairwiseGivesEachRankOneMessageAtEveryStep) {
  test::Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const Placement placement = test::random_placement(random, 64);
    const std::vector<int> one(size_t(placement.ranks()), 1);
    for (int k = 0; k < placement.ranks(); ++k)
      ASSERT_EQ(received_at(placement, IssueOrder::pairwise, k), one) << k;
  }
}

TEST(IssueOrderSpread, NdRankShiftWithEqualNodesGivesEachRankOneMessageAtEveryStep) {
  test::Random random(6);
  for (int trial = 0; trial < 300; ++trial) {
    const Placement placement = test::random_equal_placement(random, 64);
    const std::vector<int> one(size_t(placement.ranks()), 1);
    for (int k = 0; k < placement.ranks(); ++k)
      ASSERT_EQ(received_at(placement, IssueOrder::nd_rank_shift, k), one)
          << k << ", " << test::describe(placement);
  }
}

TEST(IssueOrderSpread, FirstReceiversOfANodeAreThePreviousNodesRanks) {
  test::Random random(7);
  for (int trial = 0; trial < 3000; ++trial) {
    const Placement placement = test::random_placement(random, trial % 100 ? 200 : 100'000);
    const auto shift = received_at(placement, IssueOrder::nd_shift, 0);
    const auto turned = received_at(placement, IssueOrder::nd_rank_shift, 0);
    for (int node = 0; node < placement.nodes(); ++node) {
      const int before = (node + placement.nodes() - 1) % placement.nodes();
      const int senders = int(placement.ranks_on(before).size());
      const auto ranks = placement.ranks_on(node);
      ASSERT_EQ(shift[size_t(ranks[0])], senders) << test::describe(placement);
      int sum = 0;
      const int size = int(ranks.size());
      for (const int rank : ranks) {
        const int got = turned[size_t(rank)];
        ASSERT_GE(got, senders / size) << test::describe(placement);
        ASSERT_LE(got, (senders + size - 1) / size) << test::describe(placement);
        sum += got;
      }
      ASSERT_EQ(sum, senders) << test::describe(placement);
    }
  }
}

TEST(IssueOrderSpread, NoNodeIsFloodedAtAnyStep) {
  test::Random random(8);
  for (int trial = 0; trial < 500; ++trial) {
    const Placement placement = test::random_placement(random, 64);
    size_t largest = 0;
    for (int node = 0; node < placement.nodes(); ++node)
      largest = std::max(largest, placement.ranks_on(node).size());
    for (const IssueOrder order : {IssueOrder::nd_shift, IssueOrder::nd_rank_shift})
      for (int k = 0; k < placement.ranks(); ++k) {
        const auto count = received_at(placement, order, k);
        for (int node = 0; node < placement.nodes(); ++node) {
          size_t sum = 0;
          for (const int rank : placement.ranks_on(node)) sum += size_t(count[size_t(rank)]);
          ASSERT_LE(sum, placement.ranks_on(node).size() + largest - 1)
              << name_of(order) << " at " << k << ", " << test::describe(placement);
        }
      }
  }
}

TEST(Restricted, IsTheFullOrderWithoutTheOthers) {
  test::Random random(9);
  for (int trial = 0; trial < 1000; ++trial) {
    const Placement placement = test::random_placement(random, 64);
    std::vector<int> some;
    for (int rank = 0; rank < placement.ranks(); ++rank)
      if (random.below(2)) some.push_back(rank);
    random.shuffle(some);
    for (const IssueOrder order : kAll) {
      const int me = int(random.below(placement.ranks()));
      std::vector<int> expected;
      for (const int rank : all_peers(placement, order, me))
        if (std::find(some.begin(), some.end(), rank) != some.end()) expected.push_back(rank);
      ASSERT_THAT(restricted(PeerOrder(placement, order, me), some), ElementsAreArray(expected));
    }
  }
}

}  // namespace
}  // namespace haichi::plan
