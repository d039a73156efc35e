// The commands of the native program. Each takes the words after its name and returns the exit
// code, if it returns at all: all but config become another program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/environment.h"

namespace haichi::launch {

/// What every command gets.
struct Invocation {
  std::vector<std::string> words;  ///< after the command's name
  Environment environment;
  std::string bin;  ///< directory of this program, symbolic links resolved
};

/// Exit codes of haichi itself: those of shells, and those of sysexits.h. Once the program has
/// started, the exit code is the program's.
enum ExitCode {
  kUsage = 64,           ///< wrong command line
  kUnsupported = 65,     ///< no MPI program, or an MPI that haichi does not support
  kUnavailable = 69,     ///< the shim, or a part of haichi, is not built
  kConfig = 78,          ///< a wrong setting, haichi.toml or placement file
  kNotExecutable = 126,  ///< PROGRAM is there and can't be executed
  kNotFound = 127,       ///< PROGRAM is not there
};

int run_command(Invocation invocation);
int where_command(Invocation invocation);
int measure_command(Invocation invocation);
int replay_command(Invocation invocation);
int config_command(Invocation invocation);
/// Of files and no job, by the program haichi-offline: `words` with the command's name, which
/// is_offline() knows.
int offline_command(Invocation invocation);
/// Of the NUMA nodes of this machine, by the program haichi-numaio: `command` is the name that it
/// has there.
int numaio_command(std::string command, Invocation invocation);

/// Everything else is the Python side's: hands `words` (with the command's name) to the checkout's
/// ./haichi that this program was built in.
int other_command(Invocation invocation);

}  // namespace haichi::launch
