// The commands of `haichi-gasfs`, the native program of the gather file system. `haichi gasfs`
// starts them; each takes CLI11's own subcommand and returns the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace haichi::gasfs::run {

inline constexpr int kFailed = 1, kBadInput = 2;

void add_server(CLI::App& app, int& code);
void add_dispatcher(CLI::App& app, int& code);
void add_ask(CLI::App& app, int& code);
void add_broadcast(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_btio(CLI::App& app, int& code);
void add_write_btio(CLI::App& app, int& code);

}  // namespace haichi::gasfs::run
