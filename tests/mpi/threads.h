/* What the programs with threads share: several threads at once, each on a communicator of its own.
 *
 * Prints "threads: right" on rank 0 if every thread found its bytes right, "threads: no
 * MPI_THREAD_MULTIPLE" if the library does not give it. */
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 3 };

static int rank, ranks, rounds = 20;

typedef struct {
  int number; /* of the thread */
  MPI_Comm comm;
  int wrong;
  int (*work)(int number, MPI_Comm comm); /* returns whether anything was wrong */
} Work;

static void* run_work(void* argument) {
  Work* w = argument;
  w->wrong = w->work(w->number, w->comm);
  return NULL;
}

/* The whole program: the number of rounds is the first word of its command line. */
static int run_threads(int argc, char** argv, int (*work)(int, MPI_Comm)) {
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
  Work works[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    works[i] = (Work){i, MPI_COMM_NULL, 0, work};
    MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run_work, &works[i]);
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
