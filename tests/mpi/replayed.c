/* A program to record and replay: a ring with nonblocking messages, a master that takes from any
 * rank, collectives, a communicator of every second rank and a grid. */
#include <mpi.h>
#include <stdlib.h>

enum { rounds = 30, most = 1 << 16 };
static char out[most], in[most], more[most];

static void exchange(int rank, int ranks) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request requests[2];
  MPI_Irecv(in, 3000, MPI_CHAR, before, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 3000, MPI_CHAR, next, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out, 100, MPI_CHAR, next, 1, in, 100, MPI_CHAR, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void gather_from_any(int rank, int ranks) {
  if (rank > 0) MPI_Send(out, 50, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i)
    MPI_Recv(in, 50, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void all_to_all(int ranks) {
  int* const counts = malloc(sizeof(int) * (size_t)ranks);
  int* const starts = malloc(sizeof(int) * (size_t)ranks);
  if (!counts || !starts) abort();
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 40;
    starts[i] = 40 * i;
  }
  MPI_Alltoallv(out, counts, starts, MPI_CHAR, in, counts, starts, MPI_CHAR, MPI_COMM_WORLD);
  free(counts);
  free(starts);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, periods = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm half, ring;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periods, 0, &ring);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; ++i) {
    exchange(rank, ranks);
    MPI_Allreduce(out, in, 8, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    MPI_Bcast(out, 24, MPI_CHAR, 0, half);
    if (i % 10 == 0) gather_from_any(rank, ranks);
  }
  all_to_all(ranks);
  MPI_Neighbor_alltoall(out, 16, MPI_CHAR, more, 16, MPI_CHAR, ring);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
