// What a file's nonblocking accesses have left to do behind the program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "base/task_queue.h"

namespace haichi::mpi {

/// The tasks of one file on one rank, of the queue that all files share. They are carried out in
/// the order in which they were added. Whatever else accesses the file, its size or its view must
/// finish() them first: then the program sees what it would if they had been done in their calls.
class Backlog {
 public:
  /// `bytes` as TaskQueue::add; `write_end`: behind the last byte of the file that the task writes,
  /// 0 if it reads. By one thread at a time.
  TaskQueue::Ticket add(TaskQueue& tasks, std::function<void()> task, int64_t bytes,
                        int64_t write_end) {
    end_of_writes_ = std::max(end_of_writes(), write_end);
    tasks_ = &tasks;
    last_ = tasks.add(std::move(task), bytes);
    return last_;
  }

  /// Returns when nothing is left of what was added. By any thread, without the file's mutex: its
  /// owner may be waiting for other ranks.
  void finish() const {
    if (const TaskQueue::Ticket last = last_) tasks_.load()->wait(last);
  }

  /// The file will not end before this byte; 0 if nothing is left. To be asked before the file
  /// system is. By the thread that adds.
  int64_t end_of_writes() const {
    return last_ == 0 || tasks_.load()->done(last_) ? 0 : end_of_writes_;
  }

 private:
  std::atomic<TaskQueue*> tasks_ = nullptr;
  std::atomic<TaskQueue::Ticket> last_ = 0;
  int64_t end_of_writes_ = 0;
};

}  // namespace haichi::mpi
