// The native program `haichi`. Native because it starts once per rank: at 10,000 ranks an
// interpreter's start would be felt.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/version.h"
#include "launch/commands.h"
#include "launch/exec.h"
#include "launch/offline_names.h"

namespace {

using namespace haichi::launch;

constexpr std::string_view kHelp =
    "Usage: haichi COMMAND [OPTIONS]\n"
    "Makes an unmodified MPI program communicate and do I/O according to where things are.\n"
    "\n"
    "  run      run an MPI program with haichi underneath it: mpiexec -n 16 haichi run ./app\n"
    "  where    show which rank is on which node: mpiexec -n 16 haichi where\n"
    "  measure  measure what MPI does on this machine: mpiexec -n 4 haichi measure\n"
    "  replay   make the calls of a recorded program again: mpiexec -n 16 haichi replay RECORD\n"
    "  config   list the settings, their values, and where each came from\n"
    "  simulate what if an exchange ran on another machine, with the ranks placed like so\n"
    "\n"
    "Other commands are handed to the script `haichi` around this program: see haichi --help.\n"
    "haichi COMMAND --help says more; --version prints the version.\n";

// The directory of this program's file.
std::string own_directory() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  const std::string_view all(path, n > 0 ? size_t(n) : 0);
  return std::string(all.substr(0, all.rfind('/')));
}

int dispatch(std::string_view command, Invocation invocation) {
  if (command == "run") return run_command(std::move(invocation));
  if (command == "where") return where_command(std::move(invocation));
  if (command == "measure") return measure_command(std::move(invocation));
  if (command == "replay") return replay_command(std::move(invocation));
  if (command == "config") return config_command(std::move(invocation));
  invocation.words.insert(invocation.words.begin(), std::string(command));
  return is_offline(command) ? offline_command(std::move(invocation))
                             : other_command(std::move(invocation));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--version") {
    printf("haichi %s\n", haichi::kVersion);
    return 0;
  }
  if (command == "--help" || command == "-h") {
    fwrite(kHelp.data(), 1, kHelp.size(), stdout);
    return 0;
  }
  if (command.empty()) return refuse(kUsage, "no command; see haichi --help");
  Invocation invocation{{argv + 2, argv + argc}, Environment(environ), own_directory()};
  if (invocation.bin.empty())
    return refuse(kUnavailable, "/proc/self/exe can't be read: is /proc mounted?");
  return dispatch(command, std::move(invocation));
}
