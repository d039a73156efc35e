/* absent: all-to-alls, of which the last rank misses one.
 *
 *   mpiexec -n N absent CALLS
 * Behind so many calls the last rank makes no further one, and ends the job a second later, with
 * code 9. The others print RETURNED if theirs should ever return. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1000, CODE = 9 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* out = calloc((size_t)ranks, BLOCK);
  char* in = calloc((size_t)ranks, BLOCK);
  for (int call = 0; call < atoi(argv[1]); ++call)
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    sleep(1);
    MPI_Abort(MPI_COMM_WORLD, CODE);
  }
  MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  printf("RETURNED %d\n", rank);
  fflush(stdout);
  sleep(60);
  return 0;
}
