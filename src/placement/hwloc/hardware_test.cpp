#include "placement/hwloc/hardware.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace haichi::placement {
namespace {

TEST(Hardware, CountsASyntheticNode) {
  const auto topology = Topology::synthetic("package:2 numa:2 core:4 pu:2");
  ASSERT_TRUE(topology) << topology.error().text;
  const Hardware hardware = topology->hardware();
  EXPECT_EQ(hardware.packages, 2);
  EXPECT_EQ(hardware.numa_nodes, 4);
  EXPECT_EQ(hardware.cores, 16);
  EXPECT_EQ(hardware.threads, 32);
}

TEST(Hardware, RefusesANonsensicalSyntheticNode) {
  EXPECT_FALSE(Topology::synthetic("package:-1"));
}

TEST(Binding, TellsNumaNodesOfThreads) {
  const auto topology = Topology::synthetic("package:2 numa:2 core:4 pu:2");
  ASSERT_TRUE(topology);
  const auto one = topology->binding_to("9");
  ASSERT_TRUE(one) << one.error().text;
  EXPECT_EQ(one->threads, "9");
  EXPECT_EQ(one->numa_nodes, "1");
  EXPECT_TRUE(one->bound);
  EXPECT_EQ(topology->binding_to("0-8,31")->numa_nodes, "0-1,3");
  EXPECT_FALSE(topology->binding_to("0-31")->bound);
  EXPECT_FALSE(topology->binding_to("x"));
}

TEST(Binding, OfThisProcessFollowsItsAffinity) {
  const auto topology = Topology::load();
  ASSERT_TRUE(topology) << topology.error().text;
  EXPECT_GE(topology->hardware().threads, 1);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &before)) last = core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto binding = topology->binding();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_TRUE(binding) << binding.error().text;
  EXPECT_EQ(binding->threads, std::to_string(last));
}

}  // namespace
}  // namespace haichi::placement
