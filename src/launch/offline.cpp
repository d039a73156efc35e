// Commands that work on files and are no ranks of a job: becomes the program haichi-offline.
#include <unistd.h>

#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int offline_command(Invocation invocation) {
  const std::string path = invocation.bin + "/haichi-offline";
  if (access(path.c_str(), X_OK) != 0)
    return refuse(kUnavailable, path + " is not there; `./haichi build` makes it");
  invocation.words.insert(invocation.words.begin(), path);
  return become(path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
