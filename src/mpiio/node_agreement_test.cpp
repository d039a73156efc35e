#include "mpiio/node_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "mpiio/node_letters.h"
#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

Announcement random_announcement(test::Random& random) {
  Announcement a = {};
  a.window = random.between(0, 100);
  a.file_size = random.between(-1, 50);
  a.hull_begin = random.between(0, 50);
  a.hull_end = a.hull_begin + random.between(0, 10);
  a.tuning = uint64_t(random.below(3));
  a.encoded_size = random.below(2) ? 8 : 0;
  return a;
}

bool equal(const NodeWord& a, const NodeWord& b) { return memcmp(&a, &b, sizeof a) == 0; }

// Every rank knows the sum, speakers and aggregators each node's word, and speakers their ranks'
// announcements, whatever the placement and the order in which messages get on.
TEST(NodeAgreement, AllHearWhatTheyNeed) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const placement::Placement placement =
        test::random_placement(random, int(random.between(1, 24)));
    std::vector<Announcement> all;
    std::vector<int> aggregators, nodes;
    NodeWord total;
    std::vector<NodeWord> words(size_t(placement.nodes()));
    for (int r = 0; r < placement.ranks(); ++r) {
      all.push_back(random_announcement(random));
      nodes.push_back(placement.node_of(r));
      total.add(word_of(all.back()));
      words[size_t(nodes.back())].add(word_of(all.back()));
      if (random.below(3) == 0) aggregators.push_back(r);
    }
    std::vector<std::unique_ptr<NodeAgreement>> talks;
    std::vector<plan::Schedule*> schedules;
    std::vector<plan::Buffers*> buffers;
    for (int r = 0; r < placement.ranks(); ++r) {
      talks.push_back(std::make_unique<NodeAgreement>(placement, r, all[size_t(r)], aggregators));
      schedules.push_back(talks.back().get());
      buffers.push_back(talks.back().get());
    }
    const Status done = test::run_checked(
        schedules, buffers, {.seed = seed, .completion = test::Completion::either, .nodes = nodes},
        nullptr);
    ASSERT_TRUE(done) << seed << ": " << done.error().text;
    for (int r = 0; r < placement.ranks(); ++r) {
      const NodeAgreement& each = *talks[size_t(r)];
      EXPECT_TRUE(equal(each.total(), total)) << seed << " rank " << r;
      const bool hears = std::find(aggregators.begin(), aggregators.end(), r) != aggregators.end();
      EXPECT_EQ(each.speaks(), r == placement.ranks_on(nodes[size_t(r)]).back());
      ASSERT_EQ(each.words().size(), hears || each.speaks() ? words.size() : 0);
      for (size_t n = 0; n < each.words().size(); ++n)
        EXPECT_TRUE(equal(each.words()[n], words[n])) << seed << " rank " << r << " node " << n;
      if (!each.speaks()) continue;
      const auto ranks = placement.ranks_on(nodes[size_t(r)]);
      ASSERT_EQ(each.of_node().size(), ranks.size());
      for (size_t i = 0; i < ranks.size(); ++i)
        EXPECT_EQ(memcmp(&each.of_node()[i], &all[size_t(ranks[i])], sizeof(Announcement)), 0);
    }
  }
}

// Ranks 1, 3, 5 are node 1: pieces of 10 bytes every 100, one that is large, and none.
TEST(NodeLetters, TellOfRanksWithBytesInTheDomain) {
  const placement::Placement placement = placement::round_robin(2, 3);
  std::vector<Announcement> of_node = {announcement_of({{0, Pattern::block(10), 100}, 0, 100}),
                                       Announcement{}, Announcement{}};
  of_node[1].hull_begin = 500, of_node[1].hull_end = 600;
  const NodeLetters letters(of_node);
  const auto ranks_in = [&](plan::Extent domain) {
    std::vector<int> ranks;
    const auto letter = letters.to(domain);
    const auto entries = read_letter(placement, 1, letter);
    EXPECT_TRUE(entries);
    for (const LetterEntry& each : *entries) {
      ranks.push_back(each.rank);
      EXPECT_EQ(each.large, each.rank == 3);
      if (!each.large) {
        EXPECT_EQ(each.access.hull().end, 910);
      }
    }
    return ranks;
  };
  EXPECT_EQ(ranks_in({0, 1000}), (std::vector<int>{1, 3}));
  EXPECT_EQ(ranks_in({510, 600}), (std::vector<int>{3}));  // between two pieces of rank 1
  EXPECT_EQ(ranks_in({405, 410}), (std::vector<int>{1}));
  EXPECT_EQ(ranks_in({910, 2000}), (std::vector<int>{}));
}

TEST(NodeLetters, DamageIsAnError) {
  const placement::Placement placement = placement::block(1, 2);
  const std::vector<Announcement> of_node = {
      announcement_of({{0, Pattern::block(10), 100}, 0, 100}),
      announcement_of({{10, Pattern::block(10), 100}, 0, 100})};
  const auto letter = NodeLetters(of_node).to({0, 1000});
  ASSERT_TRUE(read_letter(placement, 0, letter));
  EXPECT_FALSE(read_letter(placement, 0, std::span(letter).first(letter.size() - 1)));
  auto twice = letter;
  twice.insert(twice.end(), letter.begin(), letter.end());
  EXPECT_FALSE(read_letter(placement, 0, twice));
}

}  // namespace
}  // namespace haichi::mpiio
