#include "measure/run/quiet_wait.h"

#include <sched.h>
#include <unistd.h>

#include "measure/case/must.h"

namespace haichi::measure {
namespace {

constexpr int kEagerLooks = 200;
constexpr useconds_t kPause_us = 300;

}  // namespace

// A rank that waits in an MPI call spins in most libraries, on a core that others may want.
void wait_quietly(MPI_Request request) {
  int done = 0;
  for (int looks = 0; must(MPI_Test(&request, &done, MPI_STATUS_IGNORE)), !done; ++looks)
    if (looks < kEagerLooks)
      sched_yield();
    else
      usleep(kPause_us);
}

void gather_quietly(MPI_Comm comm) {
  MPI_Request request;
  must(MPI_Ibarrier(comm, &request));
  wait_quietly(request);
}

}  // namespace haichi::measure
