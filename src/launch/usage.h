// Command lines read with CLI11, also those of the form [OPTIONS] [--] PROGRAM [ARGS...].
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace haichi::launch {

/// Adds --mpi, which takes the name of an Abi; `name` stays empty where it is not given.
void add_mpi_option(CLI::App& app, std::string& name);

/// Parses all `words`. Returns -1, or the exit code of a command line that asked for --help or was
/// wrong (kUsage, after one line on standard error).
int parse_words(CLI::App& app, const std::vector<std::string>& words);

/// Parses the options of `app` at the front of `words` and removes them: what stays is PROGRAM and
/// its arguments, untouched. Returns what parse_words() does.
int parse_before_program(CLI::App& app, std::vector<std::string>& words);

}  // namespace haichi::launch
