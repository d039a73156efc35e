#include "base/worker.h"

#include <errno.h>
#include <signal.h>

#include <atomic>
#include <semaphore>
#include <system_error>
#include <thread>

namespace haichi {

struct Worker::Shared {
  std::function<void()> task;  // empty: the thread ends
  std::binary_semaphore wanted{0};
  std::atomic<bool> done = true;
  std::thread thread;

  void work() {
    for (;;) {
      wanted.acquire();
      if (!task) return;
      task();
      done.store(true, std::memory_order_release);
    }
  }
};

Worker::Worker(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

Result<std::unique_ptr<Worker>> Worker::make() {
  auto shared = std::make_unique<Shared>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread starts with its maker's mask
  Status made;
  try {
    shared->thread = std::thread([s = shared.get()] { s->work(); });
  } catch (const std::system_error& error) {
    made = fail(EAGAIN, "no thread to be had: {}", error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!made) return tl::unexpected(made.error());
  return std::unique_ptr<Worker>(new Worker(std::move(shared)));
}

Worker::~Worker() {
  // The end is a task like others: the thread takes it when it has done the last one.
  while (!done()) std::this_thread::yield();
  shared_->task = nullptr;
  shared_->wanted.release();
  shared_->thread.join();
}

void Worker::start(std::function<void()> task) {
  shared_->task = std::move(task);
  shared_->done.store(false, std::memory_order_relaxed);
  shared_->wanted.release();
}

bool Worker::done() const { return shared_->done.load(std::memory_order_acquire); }

}  // namespace haichi
