// Paper 001's Trans7 (section 3.7) without its computing, and what of it is measured alone. Prints
// seconds.
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, size;
static char *out,
    *in;  // shared by all ranks: the bytes don't matter, and 64 x 63 of them have no room
static MPI_Win win;

static double ping_pong(int both) {
  const double begin = MPI_Wtime();
  MPI_Request requests[2];
  if (rank < 2 && both) {
    MPI_Irecv(in, size, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, size, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (rank == 0) {
    MPI_Send(out, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(in, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(in, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - begin) / (both ? 1 : 2);
}

static double barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

static double fence(void) {
  MPI_Win_fence(0, win);
  const double begin = MPI_Wtime();
  MPI_Win_fence(0, win);
  return MPI_Wtime() - begin;
}

static double put(void) {
  MPI_Win_fence(0, win);
  const double begin = MPI_Wtime();
  if (rank == 0) MPI_Put(out, size, MPI_BYTE, 1, 0, size, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  return MPI_Wtime() - begin;
}

static void exchange_send(void) {
  MPI_Request* requests = malloc(ranks * sizeof *requests);
  for (int i = 1; i < ranks; ++i)
    MPI_Irecv(in, size, MPI_BYTE, (rank + ranks - i) % ranks, 1, MPI_COMM_WORLD, &requests[i - 1]);
  for (int i = 1; i < ranks; ++i) {
    MPI_Send(out, size, MPI_BYTE, (rank + i) % ranks, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

static void exchange_put(void) {
  for (int i = 1; i < ranks; ++i)
    MPI_Put(out, size, MPI_BYTE, (rank + i) % ranks, 0, size, MPI_BYTE, win);
  MPI_Win_fence(0, win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* what = argc > 1 ? argv[1] : "";
  size = argc > 2 ? atoi(argv[2]) : 0;
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  out = SMPI_SHARED_MALLOC(size + 1);
  in = SMPI_SHARED_MALLOC(size + 1);
  MPI_Win_create(in, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (!strcmp(what, "ping-pong")) seconds = ping_pong(0);
    if (!strcmp(what, "bidirectional")) seconds = ping_pong(1);
    if (!strcmp(what, "barrier")) seconds = barrier();
    if (!strcmp(what, "fence")) seconds = fence();
    if (!strcmp(what, "put-fence")) seconds = put();
    if (!strcmp(what, "exchange-send")) exchange_send();
    if (!strcmp(what, "exchange-put")) exchange_put();
  }
  if (!strncmp(what, "exchange", 8)) seconds = MPI_Wtime() - begin;
  if (rank == 0) printf("%.9f\n", seconds);
  MPI_Win_free(&win);
  SMPI_SHARED_FREE(out);
  SMPI_SHARED_FREE(in);
  MPI_Finalize();
  return 0;
}
