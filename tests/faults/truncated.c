/* truncated: all-to-alls, the last of which rank 0 calls with shorter blocks than the others.
 *
 *   mpiexec -n N truncated CALLS
 * Behind so many calls with blocks of 1000 bytes, rank 0 gives and takes 900, under
 * MPI_ERRORS_RETURN. Each rank prints "rank R: CLASS". What is left of messages is nobody's, so
 * rank 0 waits for a word of every other, and ends the job with code 9. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1000, SHORT = 900, CODE = 9 };

static const char* name_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPI_SUCCESS ? "success" : class == MPI_ERR_TRUNCATE ? "truncated" : "other";
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* out = calloc((size_t)ranks, BLOCK);
  char* in = calloc((size_t)ranks, BLOCK);
  for (int call = 0; call < atoi(argv[1]); ++call)
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int count = rank == 0 ? SHORT : BLOCK;
  const int code = MPI_Alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, MPI_COMM_WORLD);
  printf("rank %d: %s\n", rank, name_of(code));
  fflush(stdout);
  char word = 0;
  if (rank != 0) MPI_Send(&word, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  for (int other = 1; rank == 0 && other < ranks; ++other)
    MPI_Recv(&word, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sleep(1);
  MPI_Abort(MPI_COMM_WORLD, CODE);
  return 0;
}
