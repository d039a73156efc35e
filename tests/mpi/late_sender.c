/* Receives whose sender is late, and such as is not, on two ranks; then, with an argument, threads
 * that receive whatever comes. Rank 1 checks what it gets and counts the errors that it is told of:
 * those of wrong arguments. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kLarge = 50000, kHighTag = 40000 };

static int errors;

static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++errors;
}

static void send(const double* from, int count, int tag) {
  MPI_Send(from, count, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
}

/* What came: how much, from whom, by which tag. */
static void receive(double* to, int source, int tag, int count, int expected_tag) {
  MPI_Status status;
  int came = 0;
  to[0] = -1;
  MPI_Recv(to, kLarge, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &came);
  if (came != count || status.MPI_SOURCE != 0 || status.MPI_TAG != expected_tag || to[0] != count) {
    printf("wrong: %d of tag %d\n", came, status.MPI_TAG);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

enum { kThreads = 4, kEach = 200 };

static void* receive_any(void* sum) {
  for (int i = 0; i < kEach; ++i) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *(long*)sum += value;
  }
  return NULL;
}

/* Each message is received once, whoever has looked for it before. */
static void receive_in_threads(int rank) {
  pthread_t threads[kThreads];
  long sums[kThreads] = {0}, sum = 0;
  const int all = kThreads * kEach;
  for (int i = 1; rank == 0 && i <= all; ++i) MPI_Send(&i, 1, MPI_INT, 1, i % 3, MPI_COMM_WORLD);
  if (rank != 1) return;
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, receive_any, &sums[i]);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    sum += sums[i];
  }
  printf("threads %s\n", sum == (long)all * (all + 1) / 2 ? "intact" : "wrong");
}

int main(int argc, char** argv) {
  static double memory[kLarge];
  int rank, provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const int counts[] = {100, kLarge, 2, 3};
    const int tags[] = {1, 2, 3, kHighTag};
    const int late_us[] = {900000, 900000, 0, 0};
    for (int i = 0; i < 4; ++i) {
      if (i < 2) MPI_Barrier(MPI_COMM_WORLD);
      usleep((useconds_t)late_us[i]);
      memory[0] = counts[i];
      send(memory, counts[i], tags[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    receive(memory, 0, 1, 100, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    receive(memory, MPI_ANY_SOURCE, MPI_ANY_TAG, kLarge, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    receive(memory, 0, 3, 2, 3);
    receive(memory, 0, kHighTag, 3, kHighTag);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Recv(memory, -1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(memory, 1, MPI_DOUBLE, 7, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(memory, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    printf("errors %d\n", errors);
  }
  if (argc > 1 && provided == MPI_THREAD_MULTIPLE) receive_in_threads(rank);
  MPI_Finalize();
  return 0;
}
