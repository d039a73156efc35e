/* many_communicators: holds so many duplicates of MPI_COMM_WORLD, and exchanges on each.
 *
 *   mpiexec -n N many_communicators COUNT
 * Prints "right" once for each rank, or what failed first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 4096, kMostRanks = 64, kCalls = 6 };

static MPI_Comm comms[kMost];

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, send[kMostRanks], got[kMostRanks];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int count = atoi(argv[argc - 1]);

  for (int c = 0; c < count && !wrong; ++c) {
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]) == MPI_SUCCESS) continue;
    printf("no communicator %d\n", c);
    wrong = 1;
  }
  /* More often than a communicator's first calls, which are not looked at. */
  for (int call = 0; call < kCalls; ++call)
    for (int c = 0; c < count && !wrong; ++c) {
      for (int r = 0; r < ranks; ++r) send[r] = (c * ranks + rank) * ranks + r;
      wrong += MPI_Alltoall(send, 1, MPI_INT, got, 1, MPI_INT, comms[c]) != MPI_SUCCESS;
      for (int r = 0; r < ranks; ++r) wrong += got[r] != (c * ranks + r) * ranks + rank;
    }
  for (int c = 0; c < count && !wrong; ++c) MPI_Comm_free(&comms[c]);
  if (!wrong) puts("right");
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
