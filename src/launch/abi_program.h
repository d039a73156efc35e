// Programs of haichi's own that are built once for each MPI: which one fits the job.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/commands.h"

namespace haichi::launch {

/// Path of `<name>-<abi>` for the MPI whose launcher started this process, or that `--mpi` names,
/// which is taken out of the words. Outside of any launcher there is one rank, for which any MPI
/// will do that is built.
///
/// Fails with EINVAL for a wrong --mpi, ENOTSUP where the launcher starts programs of any MPI, and
/// ENOENT where the program is not built; exit_code_of() says what the process ends with.
Result<std::string> abi_program(std::string_view name, Invocation& invocation);
ExitCode exit_code_of(const Error& error);

/// Becomes that program, with the words that are left. Without haichi underneath it, unless
/// `--under` asks for that: then it is started as `haichi run` starts any program. Returns only an
/// exit code.
int become_abi_program(std::string_view name, Invocation invocation);

}  // namespace haichi::launch
