#include "numaio/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

namespace haichi::numaio {
namespace {

// Pools whose threads exist stay for ever: the threads look at them until the process ends.
Pool& pool_of(HostNodes nodes) { return *new Pool(std::move(nodes)); }

std::vector<std::vector<Piece>> pieces_on(int nodes, int each) {
  std::vector<std::vector<Piece>> made(static_cast<size_t>(nodes));
  for (int node = 0; node < nodes; ++node)
    for (int i = 0; i < each; ++i) made[size_t(node)].push_back({int64_t(node) * each + i, 1});
  return made;
}

TEST(Pool, EveryPieceIsMovedOnceWhateverTheThreads) {
  Pool& pool = pool_of(this_hosts_nodes());
  const int nodes = pool.nodes().nodes();
  for (int round = 0; round < 300; ++round) {
    const auto pieces = pieces_on(nodes, 1 + round % 9);
    std::vector<std::atomic<int>> moved(pieces.size() * pieces[0].size());
    const std::vector<int> threads(size_t(nodes), 1 + round % 5);
    pool.run({pieces, threads, 0}, [&](const Piece& piece, int) { ++moved[size_t(piece.begin)]; });
    for (const auto& each : moved) ASSERT_EQ(each, 1);
    if (round % 50 == 0) usleep(2000);  // they sleep
  }
}

TEST(Pool, ThreadsStayOnTheirProcessors) {
  HostNodes nodes = this_hosts_nodes();
  if (nodes.cpus[0].size() < 2) GTEST_SKIP() << "one processor on node 0";
  nodes.cpus[0] = {nodes.cpus[0].back()};
  const int only = nodes.cpus[0].back();
  Pool& pool = pool_of(nodes);
  std::vector<std::vector<Piece>> pieces(static_cast<size_t>(nodes.nodes()));
  for (int i = 0; i < 8; ++i) pieces[0].push_back({i, 1});
  const std::vector<int> threads(static_cast<size_t>(nodes.nodes()), 2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> strayed = 0;
  pool.run({pieces, threads, 0}, [&](const Piece&, int) {
    if (std::this_thread::get_id() != caller && sched_getcpu() != only) ++strayed;
    usleep(3000);
  });
  EXPECT_EQ(strayed, 0);
}

TEST(Pool, ThreadsEndAndOthersTakeTheirPlace) {
  Pool& pool = pool_of(this_hosts_nodes());
  const int nodes = pool.nodes().nodes();
  const auto pieces = pieces_on(nodes, 8);
  const std::vector<int> threads(size_t(nodes), 3);
  const auto alive = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  pool.end_threads();
  const auto before = alive();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> moved = 0;
    pool.run({pieces, threads, 0}, [&](const Piece&, int) {
      ++moved;
      usleep(100);
    });
    EXPECT_EQ(moved, 8 * nodes);
    EXPECT_GT(alive(), before);
    pool.end_threads();
    // The kernel shows a thread for a moment after it has ended.
    for (int waits = 0; alive() > before && waits < 1000; ++waits) usleep(1000);
    EXPECT_EQ(alive(), before);
  }
}

TEST(Pool, WithoutThreadsTheCallerMovesAll) {
  HostNodes nodes;
  nodes.cpus = {{}, {}, {}};  // no processor at all: no thread can be made
  nodes.memory = {true, true, true};
  nodes.distances.assign(9, 10);
  Pool pool(nodes);
  const auto pieces = pieces_on(3, 4);
  std::atomic<int> moved = 0;
  const std::vector<int> threads{2, 2, 2};
  const int took_part = pool.run({pieces, threads, 1}, [&](const Piece&, int) { ++moved; });
  EXPECT_EQ(moved, 12);
  EXPECT_EQ(took_part, 1);
}

}  // namespace
}  // namespace haichi::numaio
