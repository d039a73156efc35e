// From the words after `haichi run` to the file that will be executed and the MPI it will use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/environment.h"
#include "launch/job.h"
#include "launch/loader.h"
#include "launch/mpi_library.h"

namespace haichi::launch {

/// The file that execvp(3) would execute for `program`. Fails with ENOENT, or with EACCES for what
/// is there and can't be executed.
Result<std::string> find_program(std::string_view program, const Environment& environment);

/// The interpreter of a script.
struct Shebang {
  std::string interpreter;  ///< as after #!, or the program that `env` starts
  bool by_env = false;      ///< looked up in PATH by env(1)
};

/// Reads `#!interpreter [argument]` from the first bytes of a file; nothing if it does not begin
/// so.
std::optional<Shebang> parse_shebang(std::string_view head);

/// An ABI and how it was found, for --verbose: "libmpich.so.12 of ./app".
struct Choice {
  Abi abi;
  std::string why;
};

/// Decides which MPI the program at `path` will use. In this order: what the program itself is
/// linked with; for Python, the mpi4py it would import; for what only starts other programs
/// (scripts, shells, env, numactl, ...), `forced` (--mpi), then the launcher of `job`.
///
/// Fails with ENOEXEC for what this machine can't execute, with ENOTSUP for an MPI without a shim
/// and for statically linked MPI programs, and with EINVAL where the MPI can't be told or
/// contradicts `forced`; the text says what to do.
Result<Choice> choose_abi(const std::string& path, std::optional<Abi> forced, const Job& job,
                          const Environment& environment, const Loader& loader);

}  // namespace haichi::launch
