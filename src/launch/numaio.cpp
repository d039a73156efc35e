// What haichi does with the NUMA nodes of one machine: becomes the program haichi-numaio.
#include <unistd.h>

#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int numaio_command(std::string command, Invocation invocation) {
  const std::string path = invocation.bin + "/haichi-numaio";
  if (access(path.c_str(), X_OK) != 0)
    return refuse(kUnavailable,
                  path + " is not there; `./haichi build` makes it, with libnuma-dev");
  invocation.words.insert(invocation.words.begin(), {path, std::move(command)});
  return become(path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
