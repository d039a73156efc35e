#include "mpi/log/run_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/job_path.h"
#include "base/log.h"
#include "base/unguessable.h"
#include "base/version.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/job_facts.h"
#include "mpi/job/runtime.h"
#include "mpi/job/shared_text.h"
#include "report/log_form.h"
#include "report/rank_log.h"
#include "report/record_json.h"

namespace haichi::mpi {
namespace {

using nlohmann::json;
using report::RankLog;
using report::text_of;

/// Beside a terminal, a FIFO or a device there is no place for logs.
bool has_place_beside(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) != 0 ? errno == ENOENT : S_ISREG(facts.st_mode);
}

std::string head_of(const Runtime& runtime, const report::LogLayout& layout, int node,
                    const std::string& job) {
  const json head = {
      {"schema", "haichi.log/2"},       {"haichi", kVersion}, {"job", job},
      {"ranks", runtime.world.ranks()}, {"node", node},       {"first", layout.of_rank_0()},
      {"share", layout.of_others()}};
  return report::sealed_frame(report::FrameKind::text, text_of(head));
}

report::LogLayout layout_of(const Runtime& runtime) {
  size_t most = 0;
  for (int n = 0; n < runtime.world.nodes(); ++n)
    most = std::max(most, runtime.world.ranks_on(n).size());
  return report::LogLayout(runtime.world.ranks(), runtime.world.nodes(), int(most),
                           runtime.settings.number("report.bytes"));
}

/// The caller has `runtime.mutex`.
report::Totals totals_of_locked(Runtime& runtime) {
  report::Totals totals;
  totals.rank = runtime.rank;
  totals.node = runtime.world.node_of(runtime.rank);
  totals.since_start_ns = now_ns() - runtime.start_ns;
  for (int p = 0; p < trace::kPhases; ++p) {
    totals.phase_ns[p] = runtime.recorder.total_ns(trace::Phase(p));
    totals.phase_bytes[p] = runtime.recorder.total_bytes(trace::Phase(p));
  }
  totals.accesses = runtime.accesses;
  return totals;
}

report::Totals totals_of(Runtime& runtime) {
  const std::lock_guard guard(runtime.mutex);
  return totals_of_locked(runtime);
}

}  // namespace

std::string agree_on_report(Settings& settings, int rank) {
  if (settings.text("report.file").empty()) return "";
  std::string text;
  if (rank == 0) {
    const std::string path = resolved_path(settings.text("report.file"), "nojob");
    text = fmt::format("{:d}{:016x}{}", has_place_beside(path), unguessable_number(), path);
  }
  constexpr size_t kPathAt = 17;
  text = shared_text(handles().comm_world, std::move(text));
  real().Barrier(handles().comm_world);
  if (text.size() <= kPathAt) return "";
  const std::string path = text.substr(kPathAt);
  (void)settings.set("report.file", path, settings.source("report.file"));
  return text[0] == '1' ? fmt::format("{}.log-{}", path, text.substr(1, kPathAt - 1)) : "";
}

void start_run_log(Runtime& runtime, const std::string& name) {
  if (name.empty()) return;
  const int node = runtime.world.node_of(runtime.rank);
  const report::LogLayout layout = layout_of(runtime);
  const auto part = layout.part(node, runtime.world.local_index(runtime.rank));
  if (!part) return;
  runtime.rank_log = std::make_unique<RankLog>(
      real_os(),
      report::LogPlace{fmt::format("{}-{}", name, node), *part,
                       head_of(runtime, layout, node, name.substr(name.rfind('-') + 1))},
      now_ns);
  if (runtime.rank != 0) return;
  runtime.rank_log->add(fmt::format(R"({{"report":{}}})", report::header(job_of(runtime))));
  show_log(runtime);
}

bool log_has_time(const Runtime& runtime, bool last) {
  return runtime.rank_log && runtime.rank_log->has_time(now_ns(), last);
}

void show_log(Runtime& runtime) {
  RankLog& log_of_rank = *runtime.rank_log;
  log_of_rank.show(totals_of(runtime));
  const std::string trouble = log_of_rank.trouble();
  if (trouble.empty()) return;
  runtime.note(fmt::format("the log of the run is given up: {}", trouble));
  if (runtime.rank != 0) return;
  log(LogLevel::error,
      "there may be no report: {}: {}; give HAICHI_REPORT a path that can be written",
      log_of_rank.path(), trouble);
  runtime.told_of_no_report = true;
}

void log_open(Runtime& runtime) {
  if (log_has_time(runtime, true)) show_log(runtime);
}

void log_abort(int error_code) {
  Runtime* const runtime = Runtime::get();
  if (runtime == nullptr || !runtime->rank_log) return;
  char why[report::kEndBytes];
  const int size = snprintf(why, sizeof why, R"({"by":"MPI_Abort","code":%d,"rank":%d,"at":%.3f})",
                            error_code, runtime->rank, double(now_ns() - runtime->start_ns) * 1e-9);
  const std::unique_lock guard(runtime->mutex, std::try_to_lock);
  report::Totals totals;
  if (guard.owns_lock()) totals = totals_of_locked(*runtime);
  runtime->rank_log->end(std::string_view(why, size_t(size)),
                         guard.owns_lock() ? &totals : nullptr);
}

void end_run_log(Runtime& runtime, bool written) {
  const int node = runtime.world.node_of(runtime.rank);
  int64_t gone = written;
  if (real().Bcast(&gone, 1, handles().int64, 0, handles().comm_world) != MPI_SUCCESS || !gone ||
      !runtime.rank_log || runtime.world.ranks_on(node)[0] != runtime.rank)
    return;
  unlink(runtime.rank_log->path().c_str());
}

}  // namespace haichi::mpi
