// Commands that work on files and are no ranks of a job: becomes the program haichi-offline.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

bool is_offline(std::string_view command) {
  constexpr std::array<std::string_view, 7> kCommands = {
      "simulate",   "predict-sequence", "write-goal", "read-goal",
      "merge-logs", "merge-records",    "map"};
  return std::find(kCommands.begin(), kCommands.end(), command) != kCommands.end();
}

int offline_command(Invocation invocation) {
  const std::string path = invocation.bin + "/haichi-offline";
  if (access(path.c_str(), X_OK) != 0)
    return refuse(kUnavailable, path + " is not there; `./haichi build` makes it");
  invocation.words.insert(invocation.words.begin(), path);
  return become(path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
