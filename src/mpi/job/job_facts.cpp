#include "mpi/job/job_facts.h"

#include <algorithm>

#include "base/clock.h"
#include "base/job_path.h"
#include "base/os.h"
#include "mpi/compat/library_version.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

std::string command_line() {
  auto text = read_file("/proc/self/cmdline");
  if (!text) return "";
  if (!text->empty() && text->back() == 0) text->pop_back();
  std::replace(text->begin(), text->end(), '\0', ' ');
  return *text;
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

}  // namespace haichi::mpi
