/* Calls MPI_Alltoall with blocks of 1000 bytes so many times, with other bytes each time, and
 * checks every byte. Usage: exchange_repeated CALLS. Exit code 1 if a byte was wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1000 };

static unsigned char byte_of(int from, int to, int call, int at) {
  return (unsigned char)(from * 37 + to * 11 + call * 101 + at * 7 + 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, wrong_anywhere;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  unsigned char* out = malloc((size_t)ranks * BLOCK);
  unsigned char* in = malloc((size_t)ranks * BLOCK);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < ranks * BLOCK; ++i) {
      out[i] = byte_of(rank, i / BLOCK, call, i % BLOCK);
      in[i] = 0;
    }
    MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * BLOCK; ++i)
      wrong += in[i] != byte_of(i / BLOCK, rank, call, i % BLOCK);
  }
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong_anywhere == 0) printf("%d calls right\n", calls);
  free(out);
  free(in);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
