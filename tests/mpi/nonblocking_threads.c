/* nonblocking_threads: nonblocking exchanges of several threads at once, each on communicators of
 * its own, which it makes and frees.
 *
 *   mpiexec -n N nonblocking_threads [rounds=20]
 * Prints "threads: right" on rank 0 if every byte was, "threads: no MPI_THREAD_MULTIPLE" if the
 * library does not give it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 3, kOpen = 6, kMostRanks = 64, kSize = 300 };

static int rank, ranks, rounds = 20;

typedef struct {
  int number;
  MPI_Comm comm;
  int wrong;
  int out[kOpen][kSize * kMostRanks], in[kOpen][kSize * kMostRanks];
} Work;

static int value(int thread, int round, int i, int from, int to, int at) {
  return ((thread * 100 + round % 50) * 10 + i) * 10000 + from * 1000 + to * 100 + at % 100;
}

static void wait_for(MPI_Request* requests, int round) {
  int done = 0, index;
  if (round % 3 == 0) MPI_Waitall(kOpen, requests, MPI_STATUSES_IGNORE);
  while (round % 3 == 1 && !done) MPI_Testall(kOpen, requests, &done, MPI_STATUSES_IGNORE);
  for (int i = 0; round % 3 == 2 && i < kOpen; ++i)
    MPI_Waitany(kOpen, requests, &index, MPI_STATUS_IGNORE);
}

static void* work(void* argument) {
  Work* w = argument;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Request requests[kOpen];
    MPI_Comm_dup(w->comm, &comm);
    for (int i = 0; i < kOpen; ++i) {
      for (int at = 0; at < kSize * ranks; ++at) {
        w->out[i][at] = value(w->number, round, i, rank, at / kSize, at % kSize);
        w->in[i][at] = -1;
      }
      MPI_Ialltoall(w->out[i], kSize, MPI_INT, w->in[i], kSize, MPI_INT, comm, &requests[i]);
    }
    wait_for(requests, round);
    for (int i = 0; i < kOpen; ++i)
      for (int at = 0; at < kSize * ranks; ++at)
        w->wrong |= w->in[i][at] != value(w->number, round, i, at / kSize, rank, at % kSize);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, wrong = 0, any = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) rounds = atoi(argv[1]);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("threads: no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  static Work works[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    works[i].number = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, &works[i]);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    wrong |= works[i].wrong;
    MPI_Comm_free(&works[i].comm);
  }
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("threads: %s\n", any ? "wrong" : "right");
  MPI_Finalize();
  return any;
}
