// Hooks of the functions that start programs: the new ranks get haichi as these have it.
//
// Launchers start them in their own environment, where no `haichi run` stands in front. Info keys
// for the environment differ (Open MPI's warns, MPICH's is not there), so the command becomes
// env(1) with what to set and the command behind it. A program that would not start must fail as
// it does without haichi, and not within env: only what can be found here is started so.
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"

extern char** environ;

namespace haichi::mpi {
namespace {

constexpr char kEnv[] = "/usr/bin/env";

bool is_program(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool can_be_found(const char* command) {
  if (strchr(command, '=') != nullptr || command[0] == '-') return false;  // env's own words
  if (strchr(command, '/') != nullptr) return is_program(command);
  const char* const path = getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0 && is_program(std::string(rest.substr(0, end)) + "/" + command)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// True if `info` has the program looked for, or copied, or its environment set: the launcher's
/// affair alone.
bool says_how_to_start(MPI_Info info) {
  constexpr std::string_view kHarmless[] = {"host", "hosts", "hostfile", "soft"};
  int keys = 0;
  if (info == handles().info_null) return false;
  if (real().Info_get_nkeys(info, &keys) != MPI_SUCCESS) return true;
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    if (real().Info_get_nthkey(info, i, key) != MPI_SUCCESS ||
        std::find(std::begin(kHarmless), std::end(kHarmless), key) == std::end(kHarmless))
      return true;
  }
  return false;
}

/// What this process has of haichi, as env(1) takes it. Not the placement and the report of this
/// world: the new one has its own ranks.
std::vector<std::string> own_variables() {
  Dl_info here;
  if (dladdr(reinterpret_cast<void*>(&own_variables), &here) == 0 || !here.dli_fname) return {};
  const char* const preload = getenv("LD_PRELOAD");
  const bool named = preload && strstr(preload, "libhaichi-");
  std::vector<std::string> variables = {std::string("LD_PRELOAD=") +
                                        (named ? preload : here.dli_fname)};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("HAICHI_") && !text.starts_with("HAICHI_PLACEMENT=") &&
        !text.starts_with("HAICHI_REPORT="))
      variables.emplace_back(text);
  }
  return variables;
}

/// A command with its arguments, and what it becomes.
class Command {
 public:
  Command(const char* command, char** arguments, MPI_Info info)
      : command_(const_cast<char*>(command)), arguments_(arguments) {
    if (says_how_to_start(info) || !is_program(kEnv) || !can_be_found(command)) return;
    variables_ = own_variables();
    if (variables_.empty()) return;
    for (std::string& each : variables_) words_.push_back(each.data());
    words_.push_back(command_);
    for (char** each = arguments; each && *each; ++each) words_.push_back(*each);
    words_.push_back(nullptr);
  }
  char* command() { return words_.empty() ? command_ : const_cast<char*>(kEnv); }
  char** arguments() { return words_.empty() ? arguments_ : words_.data(); }

 private:
  char* const command_;
  char** const arguments_;
  std::vector<std::string> variables_;
  std::vector<char*> words_;
};

/// Only the root's command counts; elsewhere it need not be there.
bool is_root(MPI_Comm comm, int root) {
  int rank = -1;
  return Runtime::get() != nullptr && real().Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace

int on_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                  MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  expect_spawned();
  std::vector<Command> ours;
  try {
    if (is_root(comm, root)) ours.emplace_back(command, argv, info);
  } catch (const std::bad_alloc&) {
  }
  return real().Comm_spawn(ours.empty() ? command : ours[0].command(),
                           ours.empty() ? argv : ours[0].arguments(), maxprocs, info, root, comm,
                           intercomm, array_of_errcodes);
}

int on_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                           const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                           MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  expect_spawned();
  std::vector<Command> ours;
  std::vector<char*> commands;
  std::vector<char**> arguments;
  try {
    for (int i = 0; i < count && is_root(comm, root); ++i)
      ours.emplace_back(array_of_commands[i], array_of_argv ? array_of_argv[i] : nullptr,
                        array_of_info[i]);
    // An array whose first entry has no arguments must not look like MPI_ARGVS_NULL.
    static char* none[] = {nullptr};
    for (Command& each : ours) {
      commands.push_back(each.command());
      arguments.push_back(each.arguments() ? each.arguments() : none);
    }
  } catch (const std::bad_alloc&) {
    ours.clear();
  }
  return real().Comm_spawn_multiple(count, ours.empty() ? array_of_commands : commands.data(),
                                    ours.empty() ? array_of_argv : arguments.data(),
                                    array_of_maxprocs, array_of_info, root, comm, intercomm,
                                    array_of_errcodes);
}

}  // namespace haichi::mpi
