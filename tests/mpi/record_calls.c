/* Calls that a test knows: `record_calls STEPS`. Two ranks at least. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void messages(int steps) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  double out[512], in[512];
  MPI_Request requests[2];
  MPI_Status status;
  memset(out, 0, sizeof out);
  for (int i = 0; i < steps; ++i) {
    /* 4096 bytes to the next rank, by requests. */
    MPI_Irecv(in, 512, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 512, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    /* 80 bytes, received where there is room for more. */
    MPI_Sendrecv(out, 10, MPI_DOUBLE, next, 4, in, 512, MPI_DOUBLE, last, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    MPI_Send(out, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(in, 1024, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Send(out, 7, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(in, 7, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
}

static void persistent(int steps) {
  int out = 1, in = 0, flag = 0;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < steps; ++i) {
    MPI_Startall(2, requests);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE); /* inactive: done at once */
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void collectives(int steps) {
  int* const out = calloc((size_t)size * 4, sizeof(int));
  int* const in = calloc((size_t)size * 4, sizeof(int));
  int* const counts = calloc((size_t)size, sizeof(int));
  int* const places = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < size; ++i) {
    counts[i] = i % 3;
    places[i] = 4 * i;
  }
  for (int i = 0; i < steps; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(out, 4, MPI_INT, in, 4, MPI_INT, MPI_COMM_WORLD);
    /* What the standard lets be anything, is. */
    MPI_Gather(out, 2, MPI_INT, rank == 0 ? in : NULL, rank == 0 ? 2 : -5,
               rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    MPI_Scatter(rank == 1 ? out : NULL, 3, rank == 1 ? MPI_INT : MPI_DATATYPE_NULL,
                rank == 1 ? MPI_IN_PLACE : (void*)in, 3, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
  }
  /* Rank r gets r % 3 ints of each. */
  {
    int* const received = calloc((size_t)size, sizeof(int));
    for (int i = 0; i < size; ++i) received[i] = rank % 3;
    MPI_Alltoallv(out, counts, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
    free(received);
  }
  free(out);
  free(in);
  free(counts);
  free(places);
}

static void derived(void) {
  MPI_Comm half, copy, grid;
  MPI_Datatype column;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, values[16] = {0};
  MPI_Dims_create(size, 2, dims);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < 3; ++i) { /* made and freed: the same one each time */
    MPI_Comm_dup(half, &copy);
    MPI_Bcast(values, 1, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Bcast(values, 2, MPI_INT, 0, grid);
  MPI_Type_vector(4, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Bcast(values, 1, column, 0, half);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  messages(steps);
  persistent(steps);
  collectives(steps);
  derived();
  MPI_Finalize();
  if (rank == 0) puts("intact");
  return 0;
}
