#include "base/job_path.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <string_view>

namespace haichi {

std::string job_id() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PJM_JOBID", "FLUX_JOB_ID"})
    if (const char* const id = getenv(name)) return id;
  return "";
}

std::string resolved_path(std::string path, const std::string& outside) {
  const auto fill = [&](std::string_view key, const std::string& value) {
    for (size_t at; (at = path.find(key)) != path.npos;) path.replace(at, key.size(), value);
  };
  const std::string job = job_id();
  fill("%j", job.empty() ? outside : job);
  fill("%p", std::to_string(getpid()));
  char folder[PATH_MAX];
  if (path.empty() || path[0] == '/' || getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

}  // namespace haichi
