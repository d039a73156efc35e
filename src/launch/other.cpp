// Commands that are not native: demo, report, lab, ... are Python, which a script starts.
#include <unistd.h>

#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int other_command(Invocation invocation) {
  // bin is <checkout>/build/<directory>/bin, or <prefix>/lib/haichi/bin of what is installed.
  const std::string above = invocation.bin + "/../../../";
  std::string script = above + "haichi";
  if (access(script.c_str(), X_OK) != 0) script = above + "bin/haichi";
  if (access(script.c_str(), X_OK) != 0)
    return refuse(
        kUsage,
        fmt::format("{} is not a command of this program (run, where, measure, replay, config, "
                    "simulate are), and neither a checkout nor an installed haichi is around it: "
                    "no {}",
                    invocation.words[0], script));
  invocation.words.insert(invocation.words.begin(), script);
  return become(script, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
