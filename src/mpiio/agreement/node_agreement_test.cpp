#include "mpiio/agreement/node_agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "mpiio/agreement/node_letters.h"
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
    PatternPool pool;
    const auto entries = read_letter(placement, 1, letter, pool);
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

// Every rank's access is what it was, whatever is described together.
TEST(NodeLetters, RanksInARowAreDescribedOnceAndReadAsTheyWere) {
  size_t shorter = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    const int ranks = int(random.between(1, 40));
    const auto placement = placement::block(1, ranks);
    std::vector<Access> accesses;
    int64_t at = 0, size = 10, between = 10;
    for (int r = 0; r < ranks; ++r) {
      if (random.below(4) == 0) size = random.between(0, 20);
      if (random.below(4) == 0) between = random.between(20, 100);
      accesses.push_back({{at, Pattern::block(20), 1000}, random.below(8) ? 0 : 20, 20 * size});
      at += between;
    }
    std::vector<Announcement> of_node;
    for (const Access& each : accesses) of_node.push_back(announcement_of(each));
    const plan::Extent domain{random.between(0, 5000), 5000 + random.between(0, 30'000)};
    const auto letter = NodeLetters(of_node).to(domain);
    PatternPool pool;
    const auto entries = read_letter(placement, 0, letter, pool);
    ASSERT_TRUE(entries) << seed;
    size_t found = 0;
    for (int r = 0; r < ranks; ++r) {
      const Access& own = accesses[size_t(r)];
      if (own.position_of(domain.begin) >= own.position_of(domain.end)) continue;
      ASSERT_LT(found, entries->size()) << seed;
      const LetterEntry& entry = (*entries)[found++];
      ASSERT_EQ(entry.rank, r) << seed;
      ASSERT_EQ(entry.access.begin(), own.begin());
      ASSERT_EQ(entry.access.encode(own.begin(), own.end()), own.encode(own.begin(), own.end()));
    }
    ASSERT_EQ(found, entries->size()) << seed;
    shorter += letter.size() < found * 80;
  }
  EXPECT_GT(shorter, 100u);
}

TEST(NodeLetters, DamageIsAnError) {
  const placement::Placement placement = placement::block(1, 3);
  const std::vector<Announcement> of_node = {
      announcement_of({{0, Pattern::block(10), 100}, 0, 100}),
      announcement_of({{10, Pattern::block(10), 100}, 0, 100})};
  const auto letter = NodeLetters(of_node).to({0, 1000});
  PatternPool pool;
  ASSERT_TRUE(read_letter(placement, 0, letter, pool));
  EXPECT_FALSE(read_letter(placement, 0, std::span(letter).first(letter.size() - 1), pool));
  auto twice = letter;
  twice.insert(twice.end(), letter.begin(), letter.end());
  EXPECT_FALSE(read_letter(placement, 0, twice, pool));
  for (const int32_t count : {0, -1, 4}) {
    auto wrong = letter;
    memcpy(wrong.data() + sizeof(int32_t), &count, sizeof count);
    EXPECT_FALSE(read_letter(placement, 0, wrong, pool)) << count;
  }
}

}  // namespace
}  // namespace haichi::mpiio
