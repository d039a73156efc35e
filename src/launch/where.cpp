// haichi where: becomes the MPI program haichi-where-<abi> that prints the job's placement.
#include "launch/abi_program.h"
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {
int where_command(Invocation invocation) {
  const auto path = abi_program("haichi-where", invocation);
  if (!path) return refuse(exit_code_of(path.error()), path.error().text);
  const Job job = job_from(invocation.environment);
  const auto settings = apply_settings(job, {}, invocation.environment);
  if (!settings) return refuse(kConfig, settings.error().text);
  invocation.words.insert(invocation.words.begin(), *path);
  return become(*path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
