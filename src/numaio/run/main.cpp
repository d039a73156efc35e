// haichi-numaio: what haichi does with the NUMA nodes of one machine, as a program. `haichi where
// FILE`, `haichi measure --numa` and the figures become it; its commands are in commands.h.
#include <string_view>

#include "numaio/run/commands.h"

namespace haichi::numaio {
namespace {

struct Command {
  std::string_view name;
  int (*run)(const Words&);
};
constexpr Command kCommands[] = {
    {"where", where_command}, {"measure", measure_command}, {"plan", plan_command},
    {"bench", bench_command}, {"turns", turns_command},
};

}  // namespace
}  // namespace haichi::numaio

int main(int argc, char** argv) {
  using namespace haichi::numaio;
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& each : kCommands)
    if (each.name == name) return each.run(Words(argv + 2, argv + argc));
  std::string known;
  for (const Command& each : kCommands) known.append(known.empty() ? "" : ", ").append(each.name);
  return refuse(kUsage, "haichi-numaio takes one of: " + known);
}
