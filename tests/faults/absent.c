/* absent: all-to-alls, of which the last rank misses one.
 *
 *   mpiexec -n N absent CALLS
 * Behind so many calls the last rank makes no further one, and ends the job a second later, with
 * code 9. The others print RETURNED if theirs should ever return. */
#include "good_exchanges.h"

int main(int argc, char** argv) {
  const exchange_t e = good_exchanges(argc, argv);
  if (e.rank == e.ranks - 1) {
    sleep(1);
    MPI_Abort(MPI_COMM_WORLD, CODE);
  }
  MPI_Alltoall(e.out, BLOCK, MPI_BYTE, e.in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  printf("RETURNED %d\n", e.rank);
  fflush(stdout);
  sleep(60);
  return 0;
}
