#include "mpi/job_facts.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/os.h"
#include "mpi/library_version.h"
#include "mpi/runtime.h"

namespace haichi::mpi {
namespace {

std::string command_line() {
  auto text = read_file("/proc/self/cmdline");
  if (!text) return "";
  if (!text->empty() && text->back() == 0) text->pop_back();
  std::replace(text->begin(), text->end(), '\0', ' ');
  return *text;
}

std::string job_id() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PJM_JOBID", "FLUX_JOB_ID"})
    if (const char* id = getenv(name)) return id;
  return "";
}

}  // namespace

report::Job job_of(const Runtime& runtime) {
  return {.command = command_line(),
          .id = job_id(),
          .started_unix_s = runtime.started_unix_s,
          .wall_s = double(now_ns() - runtime.start_ns) * 1e-9,
          .abi = kAbi,
          .library = library_version(),
          .world = runtime.world,
          .settings = runtime.settings,
          .machine = runtime.machine_use};
}

std::string resolved_report_path(std::string path) {
  auto fill = [&](std::string_view key, const std::string& value) {
    for (size_t at; (at = path.find(key)) != path.npos;) path.replace(at, key.size(), value);
  };
  const std::string job = job_id();
  fill("%j", job.empty() ? "nojob" : job);
  fill("%p", std::to_string(getpid()));
  char folder[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

}  // namespace haichi::mpi
