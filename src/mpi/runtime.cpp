#include "mpi/runtime.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/access_summary.h"
#include "mpi/comm_attachment.h"
#include "mpi/compat/handles.h"
#include "mpi/discover.h"
#include "mpi/end_job.h"
#include "mpi/exchange_tuning.h"
#include "mpi/file_group.h"
#include "mpi/kept_types.h"
#include "mpi/machine_file.h"
#include "mpi/rank_set.h"
#include "mpi/roll_call.h"
#include "mpi/run_report.h"

extern char** environ;

namespace haichi::mpi {
namespace {

constinit std::atomic<Runtime*> g_runtime = nullptr;

// Events of all ranks end on rank 0: no more than this many in total.
constexpr int64_t kMaxEventsOfJob = 1 << 20;
// What is to be done behind the program may keep so many bytes, which are datatypes.
constexpr int64_t kMostBehind = 16 << 20;

/// A world that another one has spawned has its own ranks: a placement that came with the
/// launcher's environment is not of it, and its report must not replace its parents'.
void take_for_spawned(Settings& settings) {
  MPI_Comm parent = handles().comm_null;
  if (real().Comm_get_parent(&parent) != MPI_SUCCESS || parent == handles().comm_null) return;
  (void)settings.set("placement", "", "spawned");
  const std::string& file = settings.text("report.file");
  if (!file.empty()) (void)settings.set("report.file", file + ".spawned-%p", "spawned");
}

/// Settings as `key=value` lines, so that all ranks act alike even where the launcher did not pass
/// the environment on.
std::string collect(const Settings& settings) {
  std::string text;
  for (const Setting& row : settings_table())
    if (settings.source(row.key) != "default")
      text += fmt::format("{}={}\n", row.key, settings.text(row.key));
  return text;
}

/// Rank 0's text on all ranks; false if the MPI library fails.
bool share(std::string& text) {
  const Handles& h = handles();
  int64_t size = std::min<int64_t>(int64_t(text.size()), INT32_MAX);
  if (real().Bcast(&size, 1, h.int64, 0, h.comm_world) != MPI_SUCCESS) return false;
  text.resize(size_t(size));
  return real().Bcast(text.data(), int(size), h.byte, 0, h.comm_world) == MPI_SUCCESS;
}

Settings spread(std::string_view text) {
  const char* const nothing[] = {nullptr};
  Settings settings = Settings::from_environment(nothing);
  while (!text.empty()) {
    const size_t end = text.find('\n'), equals = text.find('=');
    (void)settings.set(text.substr(0, equals), text.substr(equals + 1, end - equals - 1),
                       "environment");
    text.remove_prefix(end + 1);
  }
  return settings;
}

int thread_level() {
  int provided = MPI_THREAD_SINGLE;
  real().Query_thread(&provided);
  return provided;
}

LogLevel level_of(std::string_view name) {
  if (name == "error") return LogLevel::error;
  if (name == "info") return LogLevel::info;
  if (name == "debug") return LogLevel::debug;
  return LogLevel::warn;
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
  static const bool on = [] {
    const char* const value = getenv("HAICHI_DISABLE");
    if (value == nullptr) return true;
    const std::string entry = std::string("HAICHI_DISABLE=") + value;
    const char* const only[] = {entry.c_str(), nullptr};
    return !Settings::from_environment(only).flag("disable");
  }();
  return on;
}

Runtime* Runtime::get() { return g_runtime.load(std::memory_order_acquire); }

Runtime::Runtime(Settings s, placement::Placement p, std::optional<machine::Machine> m, int r,
                 size_t events)
    : settings(std::move(s)),
      shared_world(std::make_shared<const placement::Placement>(std::move(p))),
      world(*shared_world),
      machine(std::move(m)),
      rank(r),
      threads_may_write(thread_level() == MPI_THREAD_MULTIPLE),
      reports(!settings.text("report.file").empty()),
      observes(settings.text("io.enable") == "observe"),
      many_ranks(settings.number("scale.ranks")),
      calls_before_a_look(calls_before_look_by(settings)),
      start_ns(now_ns()),
      started_unix_s(time(nullptr)),
      recorder(events, world.nodes()) {}

void Runtime::start() {
  const Handles& h = handles();
  int rank;
  if (get() != nullptr || real().Comm_rank(h.comm_world, &rank) != MPI_SUCCESS) return;
  Settings settings = Settings::from_environment(environ);
  take_for_spawned(settings);
  if (rank == 0)
    for (const std::string& problem : settings.problems()) log(LogLevel::warn, "{}", problem);
  if (!all_have_haichi(std::max<int64_t>(settings.number("start.wait"), 1) * 1'000'000'000)) return;
  std::string shared = collect(settings);
  // One allgather tells who is where and whether the ranks' settings differ; only then a second
  // operation makes rank 0's count for all.
  Ballot ballot{std::hash<std::string_view>()(shared), false};
  auto world = discover(h.comm_world, settings.text("placement"), &ballot);
  if (world && !ballot.alike) {
    if (!share(shared)) return;
    settings = spread(shared);
  }
  set_log(level_of(settings.text("log")), fmt::format("haichi: rank {}", rank));
  if (!world) {
    // A placement that the user gave and that does not fit is the user's error, and would silently
    // change what is measured; anything else is ours, and the program goes on without us.
    const bool refused = world.error().code == EINVAL;
    if (rank == 0)
      log(LogLevel::error, "{}{}", world.error().text,
          refused ? "" : "; the program goes on without haichi");
    if (refused) end_job(kBadInputExit);
    return;
  }
  auto machine = read_machine(h.comm_world, rank, settings.text("machine"));
  // The ranks' clocks in the report start together.
  if (!settings.text("report.file").empty()) real().Barrier(h.comm_world);
  const int64_t events =
      std::min(settings.number("report.events"), kMaxEventsOfJob / world->ranks() + 1);
  auto known = machine ? *std::move(machine) : std::nullopt;
  auto* const runtime =
      new Runtime(std::move(settings), std::move(*world), std::move(known), rank, size_t(events));
  if (!machine && rank == 0) runtime->note(machine.error().text);
  g_runtime.store(runtime, std::memory_order_release);
  start_rank_sets(*runtime);
}

void Runtime::stop() {
  Runtime* const runtime = g_runtime.exchange(nullptr, std::memory_order_acq_rel);
  if (runtime == nullptr) return;
  runtime->finish_behind_program();
  forget_attachments();
  forget_tuning();
  forget_file_groups();
  forget_summary_operation();
  stop_keeping_types();
  write_run_report(*runtime);
  delete runtime;
}

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

void Runtime::note(const std::string& text) {
  const std::lock_guard guard(mutex);
  if (++notes[text] == 1) log(LogLevel::info, "{}", text);
}

}  // namespace haichi::mpi
