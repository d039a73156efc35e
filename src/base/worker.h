// A thread that does one task at a time beside its owner.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"

namespace haichi {

/// Used by one thread. The worker takes no signals, so the program's handlers run where they ran
/// before, and it has the processors that its maker may use.
class Worker {
 public:
  /// EAGAIN if the system gives no thread.
  static Result<std::unique_ptr<Worker>> make();
  /// Waits for the task that was started last.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Starts `task`, which must not throw; the last one must be done.
  void start(std::function<void()> task);
  /// True if no task is under way; what the last one wrote is then visible here.
  bool done() const;

 private:
  struct Shared;
  explicit Worker(std::unique_ptr<Shared> shared);
  std::unique_ptr<Shared> shared_;
};

}  // namespace haichi
