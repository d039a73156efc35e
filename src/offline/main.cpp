// haichi-offline, which `haichi` becomes for commands that work on files and are no ranks of a job:
// the native program that starts once per rank stays small.
#include <array>
#include <string_view>

#include "launch/offline_names.h"
#include "offline/commands.h"

namespace {

using namespace haichi::offline;

struct Command {
  std::string_view name;
  int (*run)(const Arguments& arguments);
};
#define HAICHI_COMMAND(name, run) Command{name, run},
constexpr std::array kCommands = {HAICHI_OFFLINE_COMMANDS(HAICHI_COMMAND)};
#undef HAICHI_COMMAND

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& each : kCommands)
    if (each.name == name) return each.run(Arguments(argv + 2, argv + argc));
  return refuse(kUsage, "haichi-offline is started by haichi; see haichi --help");
}
