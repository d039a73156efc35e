#include "mpi/run_report.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/os.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job_facts.h"
#include "mpi/run_log.h"
#include "mpi/runtime.h"
#include "report/kept.h"
#include "report/merge.h"
#include "report/rank_text.h"

namespace haichi::mpi {
namespace {

std::string text_of_this_rank(Runtime& runtime) {
  const std::lock_guard guard(runtime.mutex);
  return report::rank_text({.rank = runtime.rank,
                            .ranks = runtime.world.ranks(),
                            .node = runtime.world.node_of(runtime.rank),
                            .recorder = runtime.recorder,
                            .accesses = runtime.accesses,
                            .files = report::take_file_records(),
                            .collectives = report::take_collective_records(),
                            .notes = runtime.notes},
                           runtime.settings.number("report.bytes"));
}

/// The texts of all ranks on rank 0.
report::RankTexts gather(const Runtime& runtime, const std::string& own) {
  const Handles& h = handles();
  const int ranks = runtime.world.ranks();
  int size = int(own.size());
  std::vector<int> sizes(size_t(runtime.rank == 0 ? ranks : 0)), begins;
  real().Gather(&size, sizeof size, h.byte, sizes.data(), sizeof size, h.byte, 0, h.comm_world);
  int64_t total = 0, only_rank_0 = 0;
  for (const int s : sizes) total += s;
  // However little each rank says, millions of them may say too much together.
  if (total > INT32_MAX) only_rank_0 = 1;
  real().Bcast(&only_rank_0, 1, h.int64, 0, h.comm_world);
  if (only_rank_0) {
    std::fill(sizes.begin(), sizes.end(), 0);
    if (runtime.rank == 0) sizes[0] = size;
    if (runtime.rank != 0) size = 0;
  }
  report::RankTexts texts;
  texts.only_rank_0 = only_rank_0 != 0;
  total = 0;
  for (const int s : sizes) {
    begins.push_back(int(total));
    texts.begins.push_back(size_t(total));
    total += s;
  }
  texts.begins.push_back(size_t(total));
  texts.all.resize(size_t(total));
  real().Gatherv(own.data(), size, h.byte, texts.all.data(), sizes.data(), begins.data(), h.byte, 0,
                 h.comm_world);
  return texts;
}

/// Whether it could be written. One line says if not, here or where the log was given up.
bool write_on_rank_0(const Runtime& runtime, const report::RankTexts& texts) {
  const std::string& path = runtime.settings.text("report.file");
  const auto written =
      write_file_atomically(path, report::merged(report::header(job_of(runtime)), texts));
  if (!written)
    log(runtime.told_of_no_report ? LogLevel::info : LogLevel::error,
        "no report: {}; give HAICHI_REPORT a path that can be written", written.error().text);
  return written.has_value();
}

}  // namespace

void write_run_report(Runtime& runtime) {
  if (!runtime.reports) return;
  const auto texts = gather(runtime, text_of_this_rank(runtime));
  const bool written = runtime.rank == 0 && write_on_rank_0(runtime, texts);
  end_run_log(runtime, written);
}

}  // namespace haichi::mpi
