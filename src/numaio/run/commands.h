// The commands of haichi-numaio. Each takes the words after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace haichi::numaio {

using Words = std::vector<std::string>;

/// Exit codes, as those of the native program.
inline constexpr int kFailed = 1, kUsage = 64, kBadInput = 78;

/// Prints `haichi: error: <text>` and returns `code`.
int refuse(int code, const std::string& text);

/// Parses all words. Returns -1, or the exit code of a command line that asked for --help or was
/// wrong (kUsage, after one line on standard error that begins with the command's name).
int parse_words(CLI::App& app, const Words& words);

/// A file without a name in a folder, open for reading and writing.
Result<Descriptor> nameless_file(const std::string& folder);

int where_command(const Words& words);
int bench_command(const Words& words);
int measure_command(const Words& words);
int turns_command(const Words& words);
int plan_command(const Words& words);

}  // namespace haichi::numaio
