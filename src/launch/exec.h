// What `haichi run` and `haichi where` do alike before they become another program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "launch/commands.h"
#include "launch/job.h"

namespace haichi::launch {

/// Prints `haichi: error: <text>` and returns `code`. Of the ranks of a job on one node the first
/// one says it for all that would say the same, waits for these a moment, and they for it.
int refuse(ExitCode code, const std::string& text);

/// Reads haichi.toml and the assignments of --set, and puts what they say into the environment.
/// Fails with EINVAL for every value that is refused and for a placement file that is missing or
/// does not fit the job; warns of unknown variables, on rank 0 alone.
Result<Settings> apply_settings(const Job& job, const std::vector<std::string>& assignments,
                                Environment& environment);

/// Becomes the program at `path` with `words` as its arguments (argv[0] first); returns an exit
/// code only if that fails.
int become(const std::string& path, std::vector<std::string> words, Environment& environment);

/// Becomes the program `name` that is installed beside this one, with the words as its arguments.
/// Where it is not, it says that `./haichi build` makes it, with what `needs` has (", with ...").
int become_beside(std::string_view name, std::string_view needs, Invocation invocation);

}  // namespace haichi::launch
