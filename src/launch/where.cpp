// haichi where: becomes the MPI program haichi-where-<abi> that prints the job's placement.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "launch/commands.h"
#include "launch/exec.h"
#include "launch/usage.h"

namespace haichi::launch {
namespace {

std::string program_path(const std::string& bin, Abi abi) {
  return fmt::format("{}/haichi-where-{}", bin, abi_name(abi));
}

// Outside of any launcher there is one rank, and every MPI says the same about it: the first that
// is built will do.
std::optional<Abi> any_built(const std::string& bin) {
  for (const Abi abi : kAbis)
    if (access(program_path(bin, abi).c_str(), X_OK) == 0) return abi;
  return std::nullopt;
}

// Takes `--mpi ABI` or `--mpi=ABI` out of the words; the others are the program's own.
Result<std::optional<Abi>> take_mpi(std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name;
    size_t count = 1;
    if (words[i].starts_with("--mpi=")) {
      name = words[i].substr(6);
    } else if (words[i] == "--mpi") {
      count = i + 1 < words.size() ? 2 : 1;
      if (count == 2) name = words[i + 1];
    } else {
      continue;
    }
    const auto abi = abi_from_name(name);
    if (!abi) return fail(EINVAL, "--mpi takes mpich, openmpi or mpiabi");
    words.erase(words.begin() + std::ptrdiff_t(i), words.begin() + std::ptrdiff_t(i + count));
    return abi;
  }
  return std::nullopt;
}

}  // namespace

int where_command(Invocation invocation) {
  auto abi = take_mpi(invocation.words);
  if (!abi) return refuse(kUsage, abi.error().text);
  const Job job = job_from(invocation.environment);
  if (!*abi) *abi = job.abi;
  if (!*abi && job.launcher.empty()) *abi = any_built(invocation.bin);
  if (!*abi && !job.launcher.empty())
    return refuse(kUnsupported,
                  fmt::format("{} starts programs of any MPI: say which with --mpi mpich, --mpi "
                              "openmpi or --mpi mpiabi",
                              job.launcher));
  const std::string path = program_path(invocation.bin, abi->value_or(Abi::mpich));
  if (access(path.c_str(), X_OK) != 0)
    return refuse(kUnavailable, fmt::format("{} is not there; `./haichi build` makes it where the "
                                            "MPI's compiler wrapper is installed",
                                            path));
  const auto settings = apply_settings(job, {}, invocation.environment);
  if (!settings) return refuse(kConfig, settings.error().text);
  invocation.words.insert(invocation.words.begin(), path);
  return become(path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
