// Tasks that a thread carries out one after the other, beside those who give them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "base/worker.h"

namespace haichi {

/// A worker that lives as long as the queue, and what it has still to do. Tasks are carried out in
/// the order of add(). Thread-safe; whoever waits sleeps.
class TaskQueue {
 public:
  /// Names a task; later tasks have larger ones, the first is 1. No task is 0.
  using Ticket = uint64_t;

  /// `most_bytes`: what the tasks that are not done may keep in memory. EAGAIN if the system gives
  /// no thread.
  static Result<std::unique_ptr<TaskQueue>> make(int64_t most_bytes);
  /// Waits until all is done.
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Adds a task, which must not throw and which keeps about `bytes` bytes until it is done. Waits
  /// for earlier ones while they keep so much that it has no room.
  Ticket add(std::function<void()> task, int64_t bytes);
  /// True if the task and all before it are done; what they wrote is then visible here.
  bool done(Ticket ticket) const;
  /// Returns when that is so.
  void wait(Ticket ticket);

 private:
  struct Waiting {
    std::function<void()> task;
    int64_t bytes;
  };

  TaskQueue(std::unique_ptr<Worker> worker, int64_t most_bytes);
  void work();

  const int64_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable wanted_;    // there is a task, or no more will come
  std::condition_variable finished_;  // one task is done
  std::deque<Waiting> waiting_;
  int64_t bytes_ = 0;  // of those that are not done
  Ticket added_ = 0, done_ = 0;
  bool closed_ = false;
  const std::unique_ptr<Worker> worker_;
};

}  // namespace haichi
