// The commands of the native program. Each takes the words after its name and returns the exit
// code, if it returns at all: run, where, measure and replay become another program.
#pragma once

#include <string>
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
int merge_records_command(Invocation invocation);
int simulate_command(Invocation invocation);
/// What `haichi predict --by sequence` starts.
int predict_sequence_command(Invocation invocation);
/// Write a record as GOAL, and print GOAL as a record; `haichi export` and `import` start them.
int write_goal_command(Invocation invocation);
int read_goal_command(Invocation invocation);
/// Prints the report of a run of the logs that its ranks have left, one file of each node.
int merge_logs_command(Invocation invocation);
/// Which rank belongs on which seat: standard input asks (map_request.h), standard output answers.
int map_command(Invocation invocation);

/// Everything else is the Python side's: hands `words` (with the command's name) to the checkout's
/// ./haichi that this program was built in.
int other_command(Invocation invocation);

}  // namespace haichi::launch
