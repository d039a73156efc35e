// haichi replay: becomes the MPI program haichi-replay-<abi>.
#include "launch/abi_program.h"
#include "launch/commands.h"

namespace haichi::launch {

int replay_command(Invocation invocation) {
  return become_abi_program("haichi-replay", std::move(invocation));
}

}  // namespace haichi::launch
