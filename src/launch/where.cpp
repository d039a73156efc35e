// haichi where: becomes the MPI program haichi-where-<abi> that prints the job's placement, or, of
// files and memory, haichi-numaio, which prints the NUMA nodes of their pages.
#include <string_view>

#include "launch/abi_program.h"
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {
namespace {

// Of a job there are options alone; what has a name is a file or a process's memory.
bool asks_for_pages(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--mpi")
      ++i;  // its value
    else if (word == "--page-cache" || word.starts_with("--page-cache=") || !word.starts_with("-"))
      return true;
  }
  return false;
}

}  // namespace

int where_command(Invocation invocation) {
  if (asks_for_pages(invocation.words)) return numaio_command("where", std::move(invocation));
  const auto path = abi_program("haichi-where", invocation);
  if (!path) return refuse(exit_code_of(path.error()), path.error().text);
  const Job job = job_from(invocation.environment);
  const auto settings = apply_settings(job, {}, invocation.environment);
  if (!settings) return refuse(kConfig, settings.error().text);
  invocation.words.insert(invocation.words.begin(), *path);
  return become(*path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
