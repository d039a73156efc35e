#include "base/task_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace haichi {
namespace {

constexpr int64_t kMuch = 1 << 20;

/// Holds back every task that comes behind it.
class Gate {
 public:
  void pass() { open_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_ = false;
};

TEST(TaskQueue, KeepsTheOrder) {
  auto queue = TaskQueue::make(kMuch);
  ASSERT_TRUE(queue);
  Gate gate;
  std::vector<int> seen;  // not guarded: wait() makes it visible
  std::thread::id where;
  (*queue)->add([&] { gate.pass(); }, 1);
  TaskQueue::Ticket last = 0;
  for (int i = 0; i < 1000; ++i)
    last = (*queue)->add(
        [&, i] {
          seen.push_back(i);
          where = std::this_thread::get_id();
        },
        1);
  EXPECT_FALSE((*queue)->done(last));
  gate.open();
  (*queue)->wait(last);
  EXPECT_TRUE((*queue)->done(last));
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[size_t(i)], i);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(TaskQueue, WaitsForOneTaskAndNotForThoseBehindIt) {
  Gate gate;  // outlives the queue
  auto queue = TaskQueue::make(kMuch);
  ASSERT_TRUE(queue);
  const auto first = (*queue)->add([] {}, 1);
  const auto second = (*queue)->add([&] { gate.pass(); }, 1);
  (*queue)->wait(first);
  EXPECT_TRUE((*queue)->done(first));
  EXPECT_FALSE((*queue)->done(second));
  gate.open();
}

TEST(TaskQueue, EndsBehindItsLastTask) {
  int done = 0;
  {
    auto queue = TaskQueue::make(kMuch);
    ASSERT_TRUE(queue);
    for (int i = 0; i < 100; ++i) (*queue)->add([&] { ++done; }, 1);
  }
  EXPECT_EQ(done, 100);
}

TEST(TaskQueue, KeepsNoMoreThanItMay) {
  auto queue = TaskQueue::make(10);
  ASSERT_TRUE(queue);
  Gate gate;
  std::atomic<int> added = 0;
  (*queue)->add([&] { gate.pass(); }, 4);
  std::thread program([&] {
    (*queue)->add([] {}, 6);
    added = 1;
    added.notify_all();
    (*queue)->add([] {}, 1);  // has no room
    added = 2;
    (*queue)->add([] {}, 100);  // would never have any
    added = 3;
  });
  added.wait(0);
  std::this_thread::yield();
  EXPECT_EQ(added, 1);
  gate.open();
  program.join();
  EXPECT_EQ(added, 3);
}

TEST(TaskQueue, LetsGoOfWhatATaskKept) {
  auto queue = TaskQueue::make(kMuch);
  ASSERT_TRUE(queue);
  auto kept = std::make_shared<int>(1);
  const auto ticket = (*queue)->add([kept] {}, 1);
  (*queue)->wait(ticket);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(TaskQueue, TakesTasksFromSeveralThreads) {
  auto queue = TaskQueue::make(100);
  ASSERT_TRUE(queue);
  int sum = 0;
  std::vector<std::thread> programs;
  for (int t = 0; t < 4; ++t)
    programs.emplace_back([&] {
      TaskQueue::Ticket last = 0;
      for (int i = 0; i < 500; ++i) last = (*queue)->add([&] { ++sum; }, 10);
      (*queue)->wait(last);
    });
  for (std::thread& each : programs) each.join();
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace haichi
