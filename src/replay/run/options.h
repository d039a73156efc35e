// The command line of `haichi replay`; docs/man/haichi-replay.1.md.
#pragma once

#include <string>

namespace haichi::replay {

/// Exit codes: those of sysexits.h.
enum ExitCode { kMpiFails = 1, kUsage = 64, kBadRecord = 65 };

/// What the time between calls becomes.
enum class Compute { busy, idle, none };

struct Options {
  std::string record;
  Compute compute = Compute::busy;
  bool json = false;
  std::string directory = ".";  ///< where files are made
  int patience = 60;            ///< seconds without progress after which it gives up; 0: never
};

/// False if the process is to end with `code`, which a wrong command line makes it. Errors and help
/// are printed if it `speaks`.
bool read_options(int argc, char** argv, bool speaks, Options& options, int& code);

}  // namespace haichi::replay
