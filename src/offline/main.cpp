// haichi-offline, which `haichi` becomes for commands that work on files and are no ranks of a job:
// the native program that starts once per rank stays small.
#include <array>
#include <string_view>

#include "offline/commands.h"

namespace {

using namespace haichi::offline;

struct Command {
  std::string_view name;
  int (*run)(const Arguments& arguments);
};
constexpr std::array kCommands = {
    Command{"simulate", simulate_command},
    Command{"predict-sequence", predict_sequence_command},
    Command{"write-goal", write_goal_command},
    Command{"read-goal", read_goal_command},
    Command{"merge-logs", merge_logs_command},
    Command{"merge-records", merge_records_command},
    Command{"map", map_command},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& each : kCommands)
    if (each.name == name) return each.run(Arguments(argv + 2, argv + argc));
  return refuse(kUsage, "haichi-offline is started by haichi; see haichi --help");
}
