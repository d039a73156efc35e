// Commands that work on files and are no ranks of a job: becomes the program haichi-offline.
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {

int offline_command(Invocation invocation) {
  return become_beside("haichi-offline", "", std::move(invocation));
}

}  // namespace haichi::launch
