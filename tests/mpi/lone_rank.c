/* lone_rank: what a program does from MPI_Init to MPI_Finalize, for jobs in which a rank has no
 * haichi.
 *
 *   mpiexec -n N lone_rank FILE
 * Prints "right" once for each rank. */
#include <mpi.h>
#include <stdio.h>

enum { kInts = 100 };

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, mine[kInts], all[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  for (int call = 0; call < 10; ++call) {
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) wrong += all[r] != r;
  }
  MPI_Comm twin;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < ranks; ++r) wrong += all[r] != r;

  /* Rank 0 hears anybody with any tag. */
  if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
  } else {
    int sum = 0, got = 0;
    for (int r = 1; r < ranks; ++r) {
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += got;
    }
    wrong += sum != ranks * (ranks - 1) / 2;
  }

  MPI_File file;
  for (int i = 0; i < kInts; ++i) mine[i] = rank * kInts + i;
  wrong += MPI_File_open(twin, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
           MPI_SUCCESS;
  const MPI_Offset at = rank * (MPI_Offset)sizeof mine;
  MPI_File_write_at_all(file, at, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < kInts; ++i) mine[i] = -1;
  MPI_File_read_at_all(file, at, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < kInts; ++i) wrong += mine[i] != rank * kInts + i;
  MPI_File_close(&file);

  MPI_Comm_free(&twin);
  MPI_Finalize();
  if (!wrong) puts("right");
  return wrong != 0;
}
