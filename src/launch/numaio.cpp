// What haichi does with the NUMA nodes of one machine: becomes the program haichi-numaio.
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int numaio_command(std::string command, Invocation invocation) {
  invocation.words.insert(invocation.words.begin(), std::move(command));
  return become_beside("haichi-numaio", ", with libnuma-dev", std::move(invocation));
}

}  // namespace haichi::launch
