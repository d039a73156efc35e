/* truncated: all-to-alls, the last of which rank 0 calls with shorter blocks than the others.
 *
 *   mpiexec -n N truncated CALLS
 * Behind so many calls with blocks of 1000 bytes, rank 0 gives and takes 900, under
 * MPI_ERRORS_RETURN. Each rank prints "rank R: CLASS". What is left of messages is nobody's, so
 * rank 0 waits for a word of every other, and ends the job with code 9. */
#include "good_exchanges.h"

enum { SHORT = 900 };

static const char* name_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPI_SUCCESS ? "success" : class == MPI_ERR_TRUNCATE ? "truncated" : "other";
}

int main(int argc, char** argv) {
  const exchange_t e = good_exchanges(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int count = e.rank == 0 ? SHORT : BLOCK;
  const int code = MPI_Alltoall(e.out, count, MPI_BYTE, e.in, count, MPI_BYTE, MPI_COMM_WORLD);
  printf("rank %d: %s\n", e.rank, name_of(code));
  fflush(stdout);
  char word = 0;
  if (e.rank != 0) MPI_Send(&word, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  for (int other = 1; e.rank == 0 && other < e.ranks; ++other)
    MPI_Recv(&word, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sleep(1);
  MPI_Abort(MPI_COMM_WORLD, CODE);
  return 0;
}
