// Two ranks or more in a ring exchange, compute, and add up every tenth time.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((noinline)) exchange(char* out, char* in, int bytes, int rank,
                                               int ranks) {
  MPI_Request requests[2];
  MPI_Irecv(in, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 100, bytes = argc > 2 ? atoi(argv[2]) : 8;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *out = calloc(1, bytes), *in = calloc(1, bytes);
  double sum = rank, all = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 20000; ++i) sum = sum * 0.999999 + 1e-6;
    exchange(out, in, bytes, rank, ranks);
    if (step % 10 == 0) MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%g\n", all);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
