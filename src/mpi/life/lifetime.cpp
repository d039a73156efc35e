#include "mpi/life/lifetime.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "generated/real.h"
#include "mpi/collectives/comm_attachment.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/compat/handles.h"
#include "mpi/files/file_group.h"
#include "mpi/job/abort_job.h"
#include "mpi/job/discover.h"
#include "mpi/job/machine_file.h"
#include "mpi/job/roll_call.h"
#include "mpi/job/runtime.h"
#include "mpi/log/run_log.h"
#include "mpi/log/run_report.h"
#include "mpi/log/summary_entries.h"
#include "mpi/tuning/tuning_group.h"
#include "mpi/types/kept_types.h"

extern char** environ;

namespace haichi::mpi {
namespace {

// Events of all ranks end on rank 0: no more than this many in total.
constexpr int64_t kMaxEventsOfJob = 1 << 20;

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
  for (const Setting& row : kSettings)
    if (settings.source(row) != "default")
      text += fmt::format("{}={}\n", row.key, settings.text(row));
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
  Settings settings = Settings::from_environment(nullptr);
  while (!text.empty()) {
    const size_t end = text.find('\n'), equals = text.find('=');
    (void)settings.set(text.substr(0, equals), text.substr(equals + 1, end - equals - 1),
                       "environment");
    text.remove_prefix(end + 1);
  }
  return settings;
}

}  // namespace

void start_runtime() {
  const Handles& h = handles();
  int rank;
  if (Runtime::get() != nullptr || real().Comm_rank(h.comm_world, &rank) != MPI_SUCCESS) return;
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
  set_log(log_level(settings.text("log")), fmt::format("haichi: rank {}", rank));
  if (!world) {
    // A placement that the user gave and that does not fit is the user's error, and would silently
    // change what is measured; anything else is ours, and the program goes on without us.
    const bool refused = world.error().code == EINVAL;
    if (rank == 0)
      log(LogLevel::error, "{}{}", world.error().text,
          refused ? "" : "; the program goes on without haichi");
    if (refused) abort_job(kBadInputExit);
    return;
  }
  KnownMachine machine = know_machine(h.comm_world, rank, settings, *world);
  const std::string problem = machine.problem;
  const std::string log = agree_on_report(settings, rank);
  const int64_t events =
      std::min(settings.number("report.events"), kMaxEventsOfJob / world->ranks() + 1);
  auto made = std::make_unique<Runtime>(std::move(settings), std::move(*world), std::move(machine),
                                        rank, size_t(events));
  Runtime& runtime = *made;
  if (!problem.empty()) runtime.note(problem, LogLevel::warn);
  start_run_log(runtime, log);
  Runtime::put(std::move(made));
  start_rank_sets(runtime);
}

void stop_runtime() {
  const std::unique_ptr<Runtime> runtime = Runtime::take();
  if (!runtime) return;
  runtime->finish_behind_program();
  forget_attachments();
  forget_tuning();
  forget_file_groups();
  summary::forget_reduction();
  stop_keeping_types();
  write_run_report(*runtime);
}

}  // namespace haichi::mpi
