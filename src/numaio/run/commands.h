// The commands of haichi-numaio. Each takes the words after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace haichi::numaio {

using Words = std::vector<std::string>;

/// Exit codes, as those of the native program.
inline constexpr int kFailed = 1, kUsage = 64, kBadInput = 78;

/// Prints `haichi: error: <text>` and returns `code`.
int refuse(int code, const std::string& text);

int where_command(const Words& words);
int bench_command(const Words& words);
int measure_command(const Words& words);
int turns_command(const Words& words);
int plan_command(const Words& words);

}  // namespace haichi::numaio
