#include "collectives/nonblocking_choice.h"

#include <gtest/gtest.h>

namespace haichi::collectives {
namespace {

TEST(NonblockingChoice, SmallBlocksAreTheLibrarysWhereItNeedsFewerMessages) {
  EXPECT_EQ(choose_nonblocking({.block = 256, .fewer_messages_up_to = 256}).text(), "library");
  EXPECT_EQ(choose_nonblocking({.block = 257, .fewer_messages_up_to = 256}).text(),
            "spread(nd_rank_shift,0)");
  EXPECT_EQ(choose_nonblocking({.block = 1, .fewer_messages_up_to = 0}).text(),
            "spread(nd_rank_shift,0)");
}

TEST(NonblockingChoice, LargeBlocksAreTheLibrarysWhereItKeepsTheRanksInStep) {
  EXPECT_EQ(choose_nonblocking({.block = 65536, .out_of_step_up_to = 32768}).text(), "library");
  EXPECT_EQ(choose_nonblocking({.block = 32768, .out_of_step_up_to = 32768}).text(),
            "spread(nd_rank_shift,0)");
  EXPECT_EQ(choose_nonblocking({.block = 65536}).text(), "spread(nd_rank_shift,0)");
}

TEST(NonblockingChoice, SizesThatRanksDoNotKnowOfEachOtherDecideNothing) {
  EXPECT_EQ(choose_nonblocking({.block = -1, .fewer_messages_up_to = 256}).text(),
            "spread(nd_rank_shift,0)");
}

TEST(NonblockingChoice, OnlyWhatIssuesEverythingAtOnceCanBeAskedFor) {
  for (const char* wanted : {"spread(rank,0)", "spread(pairwise,0)", "spread(nd_shift,0)"})
    EXPECT_EQ(choose_nonblocking({.wanted = wanted, .block = 1000}).text(), wanted);
  for (const char* wanted : {"library", "spread(rank,4)", "ring", "pair", "bruck(2)",
                             "node_aware(1)", "ring_one_barrier", "no such thing"})
    EXPECT_EQ(choose_nonblocking({.wanted = wanted, .block = 1000}).text(), "library") << wanted;
}

}  // namespace
}  // namespace haichi::collectives
