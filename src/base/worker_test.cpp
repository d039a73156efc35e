#include "base/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <thread>

namespace haichi {
namespace {

void wait_for(const Worker& worker) {
  while (!worker.done()) std::this_thread::yield();
}

TEST(Worker, DoesOneTaskAfterAnotherBesideItsOwner) {
  auto worker = Worker::make();
  ASSERT_TRUE(worker);
  EXPECT_TRUE((*worker)->done());
  int sum = 0;  // not atomic: done() makes it visible
  std::thread::id where;
  for (int i = 1; i <= 1000; ++i) {
    (*worker)->start([&, i] {
      sum += i;
      where = std::this_thread::get_id();
    });
    wait_for(**worker);
  }
  EXPECT_EQ(sum, 500'500);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(Worker, IsNotDoneBeforeItsTask) {
  auto worker = Worker::make();
  ASSERT_TRUE(worker);
  std::atomic<bool> go = false;
  (*worker)->start([&] { go.wait(false); });
  EXPECT_FALSE((*worker)->done());
  go = true;
  go.notify_all();
  wait_for(**worker);
}

TEST(Worker, EndsAfterItsLastTask) {
  bool ran = false;
  {
    auto worker = Worker::make();
    ASSERT_TRUE(worker);
    (*worker)->start([&] { ran = true; });
  }
  EXPECT_TRUE(ran);
}

TEST(Worker, LeavesSignalsToTheProgram) {
  auto worker = Worker::make();
  ASSERT_TRUE(worker);
  sigset_t mask, mine;
  sigemptyset(&mask);
  (*worker)->start([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  wait_for(**worker);
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_TRUE(sigismember(&mask, SIGUSR1));
  EXPECT_TRUE(sigismember(&mask, SIGALRM));
  EXPECT_FALSE(sigismember(&mine, SIGUSR1));
}

}  // namespace
}  // namespace haichi
