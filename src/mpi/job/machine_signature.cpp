#include "mpi/job/machine_signature.h"

#include <unistd.h>

#include "mpi/compat/library_version.h"
#include "placement/host.h"

namespace haichi::mpi {

machine::Signature signature_of(const placement::Placement& world) {
  machine::Signature here;
  here.library = library_version();
  here.processor = placement::processor_model();
  here.cores = int(sysconf(_SC_NPROCESSORS_ONLN));
  for (int node = 0; node < world.nodes(); ++node) here.node_names.push_back(world.node_name(node));
  here.network = world.nodes() > 1;
  return here;
}

}  // namespace haichi::mpi
