// Commands that are not native: demo, report, lab, ... are Python and live in the checkout.
#include <unistd.h>

#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int other_command(Invocation invocation) {
  // bin is <checkout>/build/<directory>/bin.
  const std::string script = invocation.bin + "/../../../haichi";
  if (access(script.c_str(), X_OK) != 0)
    return refuse(
        kUsage,
        fmt::format("{} is not a command of this program (run, where, config, simulate are), "
                    "and haichi's checkout is not here: no {}",
                    invocation.words[0], script));
  invocation.words.insert(invocation.words.begin(), script);
  return become(script, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
