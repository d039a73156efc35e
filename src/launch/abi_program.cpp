#include "launch/abi_program.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "launch/exec.h"
#include "launch/job.h"

namespace haichi::launch {
namespace {

std::string program_path(std::string_view name, const std::string& bin, Abi abi) {
  return fmt::format("{}/{}-{}", bin, name, abi_name(abi));
}

std::optional<Abi> any_built(std::string_view name, const std::string& bin) {
  for (const Abi abi : kAbis)
    if (access(program_path(name, bin, abi).c_str(), X_OK) == 0) return abi;
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

// Whether `--under` is among the words, which it is taken out of.
bool take_under(std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), "--under");
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

}  // namespace

Result<std::string> abi_program(std::string_view name, Invocation& invocation) {
  auto abi = take_mpi(invocation.words);
  if (!abi) return tl::unexpected(abi.error());
  const Job job = job_from(invocation.environment);
  if (!*abi) *abi = job.abi;
  if (!*abi && job.launcher.empty()) *abi = any_built(name, invocation.bin);
  if (!*abi && !job.launcher.empty())
    return fail(ENOTSUP,
                "{} starts programs of any MPI: say which with --mpi mpich, --mpi openmpi or --mpi "
                "mpiabi",
                job.launcher);
  std::string path = program_path(name, invocation.bin, abi->value_or(Abi::mpich));
  if (access(path.c_str(), X_OK) != 0)
    return fail(ENOENT,
                "{} is not there; `./haichi build` makes it where the MPI's compiler wrapper is "
                "installed",
                path);
  return path;
}

ExitCode exit_code_of(const Error& error) {
  if (error.code == ENOTSUP) return kUnsupported;
  return error.code == ENOENT ? kUnavailable : kUsage;
}

int become_abi_program(std::string_view name, Invocation invocation) {
  const bool under = take_under(invocation.words);
  const auto path = abi_program(name, invocation);
  if (!path) return refuse(exit_code_of(path.error()), path.error().text);
  invocation.words.insert(invocation.words.begin(), *path);
  if (!under) return become(*path, std::move(invocation.words), invocation.environment);
  invocation.words.insert(invocation.words.begin(), "--");
  return run_command(std::move(invocation));
}

}  // namespace haichi::launch
