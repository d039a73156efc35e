#include "collectives/decisions.h"

#include <gmock/gmock.h>

namespace haichi::collectives {
namespace {

using placement::Placement;
using testing::HasSubstr;

const DecidedFor kHere = {"MPI 1.2", "4-ranks-2-nodes-0"};

std::string good() {
  return decisions_text(
      kHere, {{"MPI_Alltoall", 10, "ring", 0.5}, {"MPI_Alltoallv", -1, "library", 0.25}});
}

TEST(Decisions, AreReadAsTheyWereWritten) {
  const auto read = parse_decisions(good(), kHere);
  ASSERT_TRUE(read) << read.error().text;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].collective, "MPI_Alltoall");
  EXPECT_EQ((*read)[0].size_bin, 10);
  EXPECT_EQ((*read)[0].chosen, "ring");
  EXPECT_EQ((*read)[0].seconds, 0.5);
  EXPECT_EQ((*read)[1].size_bin, -1);
}

TEST(Decisions, OfSomethingElseAreRefused) {
  EXPECT_THAT(parse_decisions(good(), {"MPI 1.3", kHere.placement}).error().text,
              HasSubstr("another MPI"));
  EXPECT_THAT(parse_decisions(good(), {kHere.library, "4-ranks-2-nodes-1"}).error().text,
              HasSubstr("another placement"));
}

// Whatever happened to the file, no decision comes out of it that was not put in.
TEST(Decisions, DamagedAnywhereAreRefusedOrHarmless) {
  const std::string text = good();
  for (size_t cut = 0; cut + 2 < text.size(); ++cut)
    EXPECT_FALSE(parse_decisions(text.substr(0, cut), kHere)) << cut;
  for (const auto& [what, with] : {std::pair{"0.5", "-0.5"},
                                   {"0.5", "\"fast\""},
                                   {"0.5", "1e999"},
                                   {"\"size_bin\": 10", "\"size_bin\": -3"},
                                   {"\"size_bin\": 10", "\"size_bin\": 99"},
                                   {"\"chosen\": \"ring\"", "\"chosen\": 7"},
                                   {"decisions/1", "decisions/2"}}) {
    std::string damaged = text;
    damaged.replace(damaged.find(what), std::string_view(what).size(), with);
    EXPECT_FALSE(parse_decisions(damaged, kHere)) << with;
  }
}

TEST(Decisions, OfLaterRunsReplaceThoseOfTheSameKey) {
  const auto all = joined({{"A", 1, "ring", 1}, {"A", 2, "pair", 1}}, {{"A", 1, "bruck(2)", 2}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].chosen, "pair");
  EXPECT_EQ(all[1].chosen, "bruck(2)");
}

TEST(Signature, CountsWhoIsTogetherAndNotTheNames) {
  const std::vector<int> nodes = {0, 0, 1, 1};
  const std::string block = signature_of(placement::block(2, 2));
  EXPECT_EQ(signature_of(Placement(nodes, {"a", "b"})), block);
  EXPECT_NE(signature_of(placement::round_robin(2, 2)), block);
  EXPECT_NE(signature_of(placement::block(1, 4)), block);
  EXPECT_NE(signature_of(placement::block(2, 3)), block);
  EXPECT_THAT(block, HasSubstr("4-ranks-2-nodes-"));
}

}  // namespace
}  // namespace haichi::collectives
