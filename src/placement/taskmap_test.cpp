#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "placement/formats.h"

namespace haichi::placement {
namespace {

using ::testing::HasSubstr;

// The "raw task map" of RFC 34: the rank lists of nodes 0, 1, ... of the map, separated by ';'.
// A placement renumbers nodes by first appearance, so the test compares the sets of rank lists.
std::vector<std::string> rank_lists(const Placement& p) {
  std::vector<std::string> lists;
  for (int node = 0; node < p.nodes(); ++node) lists.push_back(to_rank_list(p.ranks_on(node)));
  return lists;
}

std::vector<std::string> split(const std::string& raw) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= raw.size();) {
    const size_t end = std::min(raw.find(';', at), raw.size());
    parts.push_back(raw.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string error_of(const Result<Placement>& result) {
  return result ? "no error" : result.error().text;
}

std::string flat(const Result<Placement>& p) {
  if (!p) return p.error().text;
  std::string text;
  for (int rank = 0; rank < p->ranks(); ++rank) text += char('a' + p->node_of(rank));
  return text;
}

// The test vectors of RFC 34, all but the empty map.
TEST(TaskMap, ReadsTheVectorsOfRfc34) {
  const struct {
    const char *raw, *map;
  } vectors[] = {
      {"0", "[[0,1,1,1]]"},
      {"0;1", "[[0,2,1,1]]"},
      {"0-1", "[[0,1,2,1]]"},
      {"0-1;2-3", "[[0,2,2,1]]"},
      {"0,2;1,3", "[[0,2,1,2]]"},
      {"1;0", "[[1,1,1,1],[0,1,1,1]]"},
      {"0-3;4-7;8-11;12-15", "[[0,4,4,1]]"},
      {"0,4,8,12;1,5,9,13;2,6,10,14;3,7,11,15", "[[0,4,1,4]]"},
      {"0-1,8-9;2-3,10-11;4-5,12-13;6-7,14-15", "[[0,4,2,2]]"},
      {"0-1;2-3;4-5;6-7;8-11;12-15", "[[0,4,2,1],[4,2,4,1]]"},
      {"0,6;1,7;2,8;3,9;4,10,12,14;5,11,13,15", "[[0,6,1,2],[4,2,1,2]]"},
      {"14-15;12-13;10-11;8-9;4-7;0-3",
       "[[5,1,4,1],[4,1,4,1],[3,1,2,1],[2,1,2,1],[1,1,2,1],[0,1,2,1]]"},
      {"0-1;2-3;4-5;6-7;8-9;12-13;10-11;14-15", "[[0,5,2,1],[6,1,2,1],[5,1,2,1],[7,1,2,1]]"},
      {"12-15;8-11;4-7;0-3", "[[3,1,4,1],[2,1,4,1],[1,1,4,1],[0,1,4,1]]"},
  };
  for (const auto& v : vectors) {
    const auto bare = from_taskmap(v.map);
    ASSERT_TRUE(bare) << v.map << ": " << bare.error().text;
    EXPECT_THAT(rank_lists(*bare), ::testing::UnorderedElementsAreArray(split(v.raw))) << v.map;
    const auto wrapped = from_taskmap(fmt::format(R"({{"version":1, "map":{}}})", v.map));
    ASSERT_TRUE(wrapped) << wrapped.error().text;
    EXPECT_EQ(*wrapped, *bare);
  }
}

TEST(TaskMap, WritesTheRegularOnesAsRfc34Does) {
  const struct {
    Placement placement;
    const char *map, *pmi;
  } cases[] = {
      {block(4, 4), "[[0,4,4,1]]", "(vector,(0,4,4))"},
      {round_robin(4, 4), "[[0,4,1,4]]", "(vector,(0,4,1),(0,4,1),(0,4,1),(0,4,1))"},
      {*from_taskmap("[[0,4,2,2]]"), "[[0,4,2,2]]", "(vector,(0,4,2),(0,4,2))"},
      {*from_taskmap("[[0,4,2,1],[4,2,4,1]]"), "[[0,4,2,1],[4,2,4,1]]", "(vector,(0,4,2),(4,2,4))"},
      {*from_taskmap("[[0,6,1,2],[4,2,1,2]]"), "[[0,6,1,2],[4,2,1,2]]",
       "(vector,(0,6,1),(0,6,1),(4,2,1),(4,2,1))"},
      {block(4096, 256), "[[0,4096,256,1]]", "(vector,(0,4096,256))"},
      {block(1, 3), "[[0,1,3,1]]", "(vector,(0,1,3))"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_taskmap(c.placement), fmt::format(R"({{"version":1,"map":{}}})", c.map));
    EXPECT_EQ(to_pmi_mapping(c.placement), c.pmi);
  }
  EXPECT_EQ(to_taskmap(round_robin(4096, 256)), R"({"version":1,"map":[[0,4096,1,256]]})");
}

TEST(TaskMap, StaysShortWhereAFewNodesAreDifferent) {
  // 1,000 nodes with 48 ranks each, but every hundredth has 47.
  std::vector<int> node_of_rank;
  for (int node = 0; node < 1000; ++node)
    node_of_rank.insert(node_of_rank.end(), size_t(node % 100 == 99 ? 47 : 48), node);
  const std::string map = to_taskmap(Placement(node_of_rank));
  EXPECT_EQ(std::count(map.begin(), map.end(), '['), 21);  // 10 × (99 nodes, 1 node), and the outer
  EXPECT_EQ(*from_taskmap(map), Placement(node_of_rank));
}

TEST(TaskMap, SaysWhichBlockIsWrong) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {"}", "parse error at line 1, column 1"},
      {"42", "\"map\" is 42, not an array of blocks"},
      {"[]", "the task map is empty, which means that nobody knows"},
      {"{}", "\"version\" is missing"},
      {R"({"version":1})", "\"map\" is missing"},
      {R"({"map":[[0,1,1,1]]})", "\"version\" is missing"},
      {R"({"version":1,"map":{}})", "\"map\" is {}, not an array"},
      {R"({"version":1,"map":[]})", "the task map is empty"},
      {R"({"version":2,"map":[[1,1,1,1]]})", "\"version\" is 2; only version 1"},
      {R"({"version":"1","map":[[1,1,1,1]]})", "\"version\" is \"1\""},
      {"[[]]", "map[0] is [], not four numbers"},
      {"[[0,1,1]]", "map[0] is [0,1,1], not four numbers; write a block as [first node"},
      {"[[0,1,1,1,1]]", "not four numbers"},
      {R"([["1","1","1","1"]])", "not four whole numbers"},
      {"[[0,1,1.0,1]]", "not four whole numbers"},
      {"[[0,1,1,99999999999999999999]]", "not four whole numbers"},
      {"[[-1,1,1,1]]", "map[0] is [-1,1,1,1], a node before 0"},
      {"[[0,1,1,1],[0,0,1,1]]", "map[1] is [0,0,1,1], less than one"},
      {"[[0,1,0,1]]", "less than one"},
      {"[[0,1,1,0]]", "less than one"},
      {"[[0,1,1,1],1]", "map[1] is 1, not an array"},
      {"[[0,1,1,1],[0,1,2147483647,2147483647]]", "map[1] brings the ranks to more than 16777216"},
      {"[[2147483647,1,1,1]]", "too many nodes"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(error_of(from_taskmap(c.text)), HasSubstr(c.error)) << c.text;
    EXPECT_THAT(error_of(from_taskmap(c.text)), HasSubstr("task map: "));
  }
}

// Written by mpiexec of MPICH 4.0.2 (hydra) for host lists with the slots given: the vector
// describes the hosts once, whatever the number of ranks.
TEST(PmiMapping, ReadsWhatMpich4Writes) {
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,1,1),(1,1,2))", 8)), "abbabbab");  // a:1, b:2
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,2,1))", 7)), "abababa");           // a:1, b:1
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,2,4))", 13)), "aaaabbbbaaaab");    // a:4, b:4
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,1,2),(1,2,4))", 8)), "aabbbbcc");  // a:2, b:4, c:4
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,1,4))", 4)), "aaaa");
}

// The same host lists and ranks under mpiexec of MPICH 5.0.2, which abbreviates.
TEST(PmiMapping, ReadsWhatMpich5Writes) {
  EXPECT_EQ(flat(from_pmi_mapping("(vector,[0,(1,1,2)]x2,(0,2,1))", 8)), "abbabbab");
  EXPECT_EQ(flat(from_pmi_mapping("(vector,[(0,2,1)]x6,0)", 13)), "ababababababa");
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,2,4),(0,1,4),1)", 13)), "aaaabbbbaaaab");
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,1,2),(1,1,4),(2,1,2))", 8)), "aabbbbcc");
  EXPECT_EQ(flat(from_pmi_mapping("(vector,[(0,2,2)]x25)", 100)),
            flat(from_pmi_mapping("(vector,(0,2,2))", 100)));
}

TEST(PmiMapping, AllowsBlanks) {
  EXPECT_EQ(flat(from_pmi_mapping(" ( vector , ( 0 , 2 , 1 ) , [ 0 , 1 ]x2 )\n", 6)), "ababab");
}

TEST(PmiMapping, SaysWhichCharacterIsWrong) {
  const struct {
    const char *text, *error;
  } cases[] = {
      {"", "it ends where '(' should follow"},
      {"vector", "character 1 is 'v', not '('"},
      {"(block,(0,1,1))", "character 2 is 'b', not 'vector'"},
      {"(vector)", "the vector is empty"},
      {"(vector,)", "character 9 is ')', not a node"},
      {"(vector,(0,1))", "character 13 is ')', not ','"},
      {"(vector,(0,1,1)", "it ends where ',' or ')' should follow"},
      {"(vector,(0,1,1", "it ends where ')' should follow"},
      {"(vector,(0,1,1,1))", "character 15 is ',', not ')'"},
      {"(vector,(-1,1,1))", "character 10 is '-', not a node"},
      {"(vector,(0,0,1))", "a number of nodes at character 12 is 0"},
      {"(vector,(0,1,0))", "a number of ranks per node at character 14 is 0"},
      {"(vector,(0,1,1))x", "character 17 is 'x', not the end"},
      {"(vector,(0,99999999999,1))", "a number of nodes at character 12 is larger than"},
      {"(vector,[0,1],2)", "character 13 is ']', not ']x' and how often"},
      {"(vector,[0,1]x)", "character 15 is ')', not a number of repeats"},
      {"(vector,[0]x0)", "the repeat at character 13 is 0"},
      {"(vector,[[0]x2]x2)", "character 10 is '[', not a node"},
  };
  for (const auto& c : cases) {
    const std::string error = error_of(from_pmi_mapping(c.text, 4));
    EXPECT_THAT(error, HasSubstr(c.error)) << c.text;
    EXPECT_THAT(error, HasSubstr("write (vector,(first node,nodes,ranks per node),...)"));
  }
  EXPECT_THAT(error_of(from_pmi_mapping("(vector,(0,1,1))", 0)), HasSubstr("0 ranks, not 1 to"));
}

TEST(PmiMapping, HugeNumbersCostNothing) {
  EXPECT_EQ(flat(from_pmi_mapping("(vector,(0,16777216,16777216))", 3)), "aaa");
  EXPECT_EQ(flat(from_pmi_mapping("(vector,[(0,2,1),(0,1,1)]x16777216)", 7)), "abaabaa");
}

}  // namespace
}  // namespace haichi::placement
