#include "placement/difference.h"

#include <gtest/gtest.h>

namespace haichi::placement {
namespace {

Placement nodes(std::vector<int> node_of_rank, std::vector<std::string> names = {}) {
  return Placement(node_of_rank, std::move(names));
}

TEST(Difference, IsEmptyWhereTheSameRanksShareNodes) {
  EXPECT_EQ(difference(block(3, 4), block(3, 4), "MPI"), "");
  // Nodes may have other names and numbers.
  EXPECT_EQ(difference(nodes({0, 1, 0}, {"a", "b"}), nodes({7, 2, 7}), "MPI"), "");
}

TEST(Difference, NamesANodeThatIsSplit) {
  EXPECT_EQ(difference(nodes({0, 0, 0, 0}, {"vm"}), nodes({0, 1, 2, 3}), "MPI"),
            "MPI counts 4 nodes, haichi 1; it splits node vm, ranks 0-3, into 0 | 1 | 2 | 3, as it "
            "does under a hostfile that names a host twice: name each host once, with its number "
            "of ranks");
}

TEST(Difference, NamesNodesThatAreJoined) {
  EXPECT_EQ(difference(nodes({0, 0, 1, 1}, {"a", "b"}), nodes({0, 0, 0, 0}), "MPI"),
            "MPI counts 1 node, haichi 2; it joins ranks 0-1 of a | 2-3 of b, as it does where one "
            "machine plays several nodes");
}

TEST(Difference, ListsAFewAndCountsTheRest) {
  const std::string text = difference(block(3, 10), block(30, 1), "MPI");
  EXPECT_NE(text.find("ranks 0-9, into 0 | 1 | 2 | 3 | ... (and so 2 more nodes)"),
            std::string::npos)
      << text;
}

TEST(Difference, SaysBothWhereNodesCross) {
  const std::string text = difference(nodes({0, 0, 1, 1}), nodes({0, 1, 0, 1}), "MPI");
  EXPECT_NE(text.find("it splits node node0, ranks 0-1, into 0 | 1 (and so 1 more node)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("joins ranks 0 of node0 | 2 of node1 (and so 1 more node"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace haichi::placement
