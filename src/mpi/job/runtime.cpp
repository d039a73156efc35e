#include "mpi/job/runtime.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "report/rank_log.h"
#include "report/record_json.h"

namespace haichi::mpi {
namespace {

constinit std::atomic<Runtime*> g_runtime = nullptr;

// What is to be done behind the program may keep so many bytes, which are datatypes.
constexpr int64_t kMostBehind = 16 << 20;

int thread_level() {
  int provided = MPI_THREAD_SINGLE;
  real().Query_thread(&provided);
  return provided;
}

/// To make a state costs as much as some calls; a job of few calls shall not pay for it.
int64_t calls_before_look_by(const Settings& settings) {
  const int64_t after = settings.number("collectives.after");
  // Where an earlier job may have decided there is something to gain at once, and trials may cost
  // what they like.
  constexpr int64_t kSoon = 4;
  const bool soon = !settings.text("collectives.decisions").empty() ||
                    settings.number("collectives.budget") >= 100;
  return soon ? std::min(after, kSoon) : after;
}

}  // namespace

bool active() {
  static const bool on = !is_disabled();
  return on;
}

Runtime* Runtime::get() { return g_runtime.load(std::memory_order_acquire); }

void Runtime::put(std::unique_ptr<Runtime> runtime) {
  g_runtime.store(runtime.release(), std::memory_order_release);
}

std::unique_ptr<Runtime> Runtime::take() {
  return std::unique_ptr<Runtime>(g_runtime.exchange(nullptr, std::memory_order_acq_rel));
}

Runtime::Runtime(Settings s, placement::Placement p, KnownMachine m, int r, size_t events)
    : settings(std::move(s)),
      shared_world(std::make_shared<const placement::Placement>(std::move(p))),
      world(*shared_world),
      machine(std::move(m.machine)),
      machine_use(std::move(m.use)),
      rank(r),
      threads_may_write(thread_level() == MPI_THREAD_MULTIPLE),
      reports(!settings.text("report.file").empty()),
      observes(settings.text("io.enable") == "observe"),
      many_ranks(settings.number("scale.ranks")),
      calls_before_a_look(calls_before_look_by(settings)),
      start_ns(now_ns()),
      started_unix_s(time(nullptr)),
      io_before(reports ? process_io() : std::nullopt),
      recorder(events, world.nodes()) {}

Runtime::~Runtime() = default;

Runtime::BorrowedWorker Runtime::borrow_worker() {
  std::unique_ptr<Worker> worker;
  {
    const std::lock_guard guard(mutex);
    worker = std::move(idle_worker_);
  }
  if (!worker) {
    auto made = Worker::make();
    if (!made) note(made.error().text);
    if (made) worker = std::move(*made);
  }
  return {worker.release(), [this](Worker* used) {
            std::unique_ptr<Worker> ours(used);
            const std::lock_guard guard(mutex);
            if (!idle_worker_) idle_worker_ = std::move(ours);
          }};
}

TaskQueue* Runtime::behind_program() {
  if (!any_behind_program()) {
    auto made = TaskQueue::make(kMostBehind);
    if (!made) note(made.error().text);
    const std::lock_guard guard(mutex);
    if (made && !any_behind_program()) behind_.store(made->release(), std::memory_order_release);
  }
  return behind_.load(std::memory_order_acquire);
}

void Runtime::finish_behind_program() { delete behind_.exchange(nullptr); }

void Runtime::note(const std::string& text, LogLevel level) {
  const std::lock_guard guard(mutex);
  if (++notes[text] > 1) return;
  log(level, "{}", text);
  if (rank_log) rank_log->add(report::record_of_note(text));
}

}  // namespace haichi::mpi
