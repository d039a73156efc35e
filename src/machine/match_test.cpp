#include "machine/match.h"

#include <gmock/gmock.h>

namespace haichi::machine {
namespace {

using testing::HasSubstr;

Signature cluster() { return {"Open MPI v4.1.4", "a processor", 32, {"n01", "n02"}, true}; }

TEST(Match, OfTheSameNodesIsExact) {
  const Match same = match(cluster(), cluster());
  EXPECT_TRUE(same.fits());
  EXPECT_TRUE(same.telling);
  EXPECT_TRUE(same.exact);
}

TEST(Match, OtherNodesOfTheClusterAreAlikeButNotExact) {
  Signature here = cluster();
  here.node_names = {"n02", "n117"};
  const Match found = match(cluster(), here);
  EXPECT_TRUE(found.fits());
  EXPECT_FALSE(found.exact);
  EXPECT_LT(found.agreements, match(cluster(), cluster()).agreements);
}

TEST(Match, SaysWhatDiffers) {
  const auto difference = [](auto change) {
    Signature here = cluster();
    change(here);
    const Match found = match(cluster(), here);
    EXPECT_FALSE(found.exact);
    return found.difference;
  };
  EXPECT_THAT(difference([](Signature& s) { s.library = "MPICH 5"; }),
              HasSubstr("MPI library “Open MPI v4.1.4”, here “MPICH 5”"));
  EXPECT_THAT(difference([](Signature& s) { s.processor = "b"; }), HasSubstr("processor"));
  EXPECT_THAT(difference([](Signature& s) { s.cores = 16; }), HasSubstr("“32”, here “16”"));
  EXPECT_THAT(difference([](Signature& s) { s.node_names = {"n01", "laptop"}; }),
              HasSubstr("node “n01”, here “laptop”"));
}

TEST(Match, WhatIsMeasuredOnOneNodeSaysNothingOfSeveral) {
  Signature one = cluster();
  one.network = false;
  EXPECT_THAT(match(one, cluster()).difference, HasSubstr("between nodes were not measured"));
  Signature here = cluster();
  here.network = false;
  EXPECT_TRUE(match(cluster(), here).fits()) << "but the other way round";
  EXPECT_GT(match(one, here).agreements, match(cluster(), here).agreements);
}

TEST(Match, WhatIsNotKnownFitsAnyAndTellsNothing) {
  const Match found = match({}, cluster());
  EXPECT_TRUE(found.fits());
  EXPECT_EQ(found.agreements, 0);
  EXPECT_FALSE(found.telling);
  EXPECT_FALSE(found.exact);
}

}  // namespace
}  // namespace haichi::machine
