#include "placement/host.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <set>

#include "base/os.h"

namespace haichi::placement {
namespace {

namespace fs = std::filesystem;

TEST(HostIdentity, DiffersByNameAndByBoot) {
  const uint64_t here = host_identity("n0", "boot");
  EXPECT_EQ(here, host_identity("n0", "boot"));
  EXPECT_NE(here, host_identity("n1", "boot"));
  EXPECT_NE(here, host_identity("n0", "other boot"));
  EXPECT_NE(host_identity("ab", "c"), host_identity("a", "bc"));
  EXPECT_NE(host_identity("a", ""), host_identity("", "a"));
}

TEST(HostIdentity, KeepsAHundredThousandHostsApart) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 100'000; ++i) seen.insert(host_identity(fmt::format("node{:06}", i), "boot"));
  EXPECT_EQ(seen.size(), 100'000u);
}

TEST(ThisHost, HasTheNameThatTheKernelTells) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  const Host host = this_host();
  EXPECT_EQ(host.name, name);
  EXPECT_EQ(host.identity, this_host().identity);
  const auto boot = read_file("/proc/sys/kernel/random/boot_id");
  ASSERT_TRUE(boot) << boot.error().text;
  EXPECT_EQ(host.identity, host_identity(name, *boot));
}

TEST(ThisKernel, IsTheSameInAllItsNamespaces) {
  const uint64_t here = this_kernel();
  EXPECT_NE(here, 0u);
  const pid_t child = fork();
  if (child == 0) {
    // Without the right to have a name of its own the child says what it can.
    if (unshare(CLONE_NEWUTS) == 0) sethostname("another", 7);
    _exit(this_kernel() == here ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ThisPlace, FollowsTheAffinityOfTheProcess) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(this_place().cores, CPU_COUNT(&before));
  int last = -1;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &before)) last = core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const RankPlace place = this_place();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(place.core, last);
  EXPECT_EQ(place.cores, 1);
  EXPECT_EQ(place.numa_node, numa_node_of(last));
}

TEST(NumaNodeOf, ReadsTheKernelsFolders) {
  std::string folder = fs::temp_directory_path() / "haichi-cpus-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  fs::create_directories(folder + "/cpu3/node12");
  fs::create_directories(folder + "/cpu3/topology");
  fs::create_directories(folder + "/cpu4/nodelist");
  fs::create_directories(folder + "/cpu5");
  EXPECT_EQ(numa_node_of(3, folder), 12);
  EXPECT_EQ(numa_node_of(4, folder), -1);
  EXPECT_EQ(numa_node_of(5, folder), -1);
  EXPECT_EQ(numa_node_of(6, folder), -1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace haichi::placement
