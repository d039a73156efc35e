#include "placement/hwloc/where_table.h"

#include <gtest/gtest.h>

namespace haichi::placement {
namespace {

RankDetails on(const std::string& host, const std::string& threads, bool bound) {
  return {host, "", {2, 16, 32, 4}, {threads, "0-1", bound}};
}

TEST(RankDetails, TravelAsText) {
  const RankDetails sent = {"n0.example", "", {1, 2, 4, 3}, {"0-3,8", "1", true}};
  const RankDetails got = unpack(pack(sent));
  EXPECT_EQ(got.host, "n0.example");
  EXPECT_EQ(got.problem, "");
  EXPECT_EQ(got.hardware.packages, 1);
  EXPECT_EQ(got.hardware.cores, 2);
  EXPECT_EQ(got.hardware.threads, 4);
  EXPECT_EQ(got.hardware.numa_nodes, 3);
  EXPECT_EQ(got.binding.threads, "0-3,8");
  EXPECT_EQ(got.binding.numa_nodes, "1");
  EXPECT_TRUE(got.binding.bound);
  EXPECT_EQ(unpack(pack({"n0", "no hwloc", {}, {}})).problem, "no hwloc");
}

TEST(WhereTable, ListsNodesAndGroupsRanksThatAreBoundAlike) {
  const Placement placement(std::vector<int>{0, 0, 1, 1}, {"n0", "node-with-a-long-name"});
  const std::vector<RankDetails> details = {on("n0", "0-7", true), on("n0", "8-15", true),
                                            on("n1", "0-31", false), on("n1", "0-31", false)};
  EXPECT_EQ(where_table(placement, details, ""),
            "4 ranks on 2 nodes, told apart by their hosts\n"
            "\n"
            "node  name                   ranks  packages  cores  threads  NUMA nodes\n"
            "   0  n0                     0-1           2     16       32           4\n"
            "   1  node-with-a-long-name  2-3           2     16       32           4\n"
            "\n"
            "ranks  node                   threads  NUMA nodes\n"
            "0      n0                     0-7      0-1         bound\n"
            "1      n0                     8-15     0-1         bound\n"
            "2-3    node-with-a-long-name  0-31     0-1         not bound\n");
}

TEST(WhereTable, TellsThePlayedNodesFromTheRealHosts) {
  const std::vector<RankDetails> details = {on("vm", "0", true), {"vm", "hwloc: gone", {}, {}}};
  EXPECT_EQ(where_table(round_robin(2, 1), details, "two.json"),
            "2 ranks on 2 nodes, as two.json says\n"
            "\n"
            "node  name   ranks  packages  cores  threads  NUMA nodes  real host\n"
            "   0  node0  0             2     16       32           4  vm\n"
            "   1  node1  1             ?      ?        ?           ?  vm\n"
            "\n"
            "ranks  node   threads  NUMA nodes\n"
            "0      node0  0        0-1         bound\n"
            "1      node1                       hwloc: gone\n");
}

}  // namespace
}  // namespace haichi::placement
