// A schedule written as a coroutine: an algorithm reads as it stands in its paper, and its steps
// are made one by one when an executor asks for them.
//
//   StepGenerator ring(Exchange x) {
//     for (int distance = 1; distance < x.ranks(); ++distance) {
//       co_yield receive_step(...);
//       ...
//
// Parameters of such a function must be values, not references: they outlive the call.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "plan/schedule.h"

namespace haichi::plan {

/// Owner of a coroutine that yields steps. Move-only.
class StepGenerator {
 public:
  struct promise_type {
    Step* into = nullptr;  // where the next step goes
    StepGenerator get_return_object() {
      return StepGenerator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    // Here and not in next(): what the coroutine has just written there it would have to read back.
    std::suspend_always yield_value(Step step) noexcept {
      *into = step;
      return {};
    }
    void return_void() noexcept {}
    // Steps are numbers: nothing that a generator does between two of them throws.
    void unhandled_exception() noexcept { std::terminate(); }
  };

  StepGenerator(StepGenerator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  StepGenerator& operator=(StepGenerator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~StepGenerator() {
    if (handle_) handle_.destroy();
  }

  /// Writes the next step and returns true, or returns false at the end.
  bool next(Step& step) {
    if (handle_.done()) return false;
    handle_.promise().into = &step;
    handle_.resume();
    return !handle_.done();
  }

  /// Where the coroutine keeps what it has.
  const void* frame() const { return handle_.address(); }

 private:
  explicit StepGenerator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

/// A schedule of what a generator yields.
class GeneratedSchedule : public Schedule {
 public:
  /// At most `window` sends outstanding; 0 is no limit.
  explicit GeneratedSchedule(StepGenerator steps, int window = 0)
      : steps_(std::move(steps)), window_(window) {}
  bool next(Step& step) override { return steps_.next(step); }
  int max_outstanding() const override { return window_; }
  const void* frame() const { return steps_.frame(); }

 private:
  StepGenerator steps_;
  int window_;
};

}  // namespace haichi::plan
