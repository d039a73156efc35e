#include "base/task_queue.h"

#include <utility>

namespace haichi {

Result<std::unique_ptr<TaskQueue>> TaskQueue::make(int64_t most_bytes) {
  auto worker = Worker::make();
  if (!worker) return tl::unexpected(worker.error());
  return std::unique_ptr<TaskQueue>(new TaskQueue(std::move(*worker), most_bytes));
}

TaskQueue::TaskQueue(std::unique_ptr<Worker> worker, int64_t most_bytes)
    : most_bytes_(most_bytes), worker_(std::move(worker)) {
  worker_->start([this] { work(); });
}

TaskQueue::~TaskQueue() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return done_ == added_; });
  closed_ = true;
  wanted_.notify_one();
}

TaskQueue::Ticket TaskQueue::add(std::function<void()> task, int64_t bytes) {
  std::unique_lock lock(mutex_);
  // One that has no room anywhere is let in where it is alone.
  finished_.wait(lock, [&] { return done_ == added_ || bytes_ + bytes <= most_bytes_; });
  waiting_.push_back({std::move(task), bytes});
  bytes_ += bytes;
  wanted_.notify_one();
  return ++added_;
}

bool TaskQueue::done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return done_ >= ticket;
}

void TaskQueue::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return done_ >= ticket; });
}

void TaskQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next.task();
    next.task = nullptr;  // with what it kept
    lock.lock();
    bytes_ -= next.bytes;
    ++done_;
    finished_.notify_all();
  }
}

}  // namespace haichi
