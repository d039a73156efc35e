/* type_threads: datatypes that several threads use for the first time at once.
 *
 *   mpiexec -n N type_threads ROUNDS
 * See threads.h for what it prints. */
#include <string.h>

#include "threads.h"

enum { kInts = 48, kMostRanks = 8, kMostRounds = 200 };

static MPI_Datatype types[kMostRounds];
static int made[kMostRounds];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Every second int from `round` on, so that each type differs from that before. */
static MPI_Datatype scattered(int round) {
  int places[kInts];
  for (int i = 0; i < kInts; ++i) places[i] = (i * 5 % kInts) * 2 + round % 2;
  MPI_Datatype bare, type;
  MPI_Type_create_indexed_block(kInts, 1, places, MPI_INT, &bare);
  MPI_Type_create_resized(bare, 0, kInts * 2 * (MPI_Aint)sizeof(int), &type);
  MPI_Type_free(&bare);
  MPI_Type_commit(&type);
  return type;
}

/* The type of a round, the same for all threads. Made by whoever comes first; nobody uses it before
 * the others may. */
static MPI_Datatype type_of(int round) {
  pthread_mutex_lock(&mutex);
  if (!made[round]) types[round] = scattered(round);
  made[round] = 1;
  pthread_mutex_unlock(&mutex);
  return types[round];
}

static int exchange(MPI_Comm comm, MPI_Datatype type, int number, int round) {
  int send[kMostRanks][kInts * 2], receive[kMostRanks][kInts * 2], wrong = 0;
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < kInts * 2; ++i) send[to][i] = ((number * 8 + rank) * 8 + to) * 1000 + i;
  memset(receive, 0xff, sizeof receive);
  MPI_Alltoall(send, 1, type, receive, 1, type, comm);
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < kInts * 2; ++i)
      wrong |= receive[from][i] !=
               (i % 2 == round % 2 ? ((number * 8 + from) * 8 + rank) * 1000 + i : -1);
  return wrong;
}

static int work(int number, MPI_Comm comm) {
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Datatype type = type_of(round), copy;
    MPI_Barrier(comm);
    MPI_Type_dup(type, &copy);
    wrong |= exchange(comm, type, number, round);
    wrong |= exchange(comm, copy, number, round);
    MPI_Type_free(&copy);
  }
  return wrong;
}

int main(int argc, char** argv) { return run_threads(argc, argv, work); }
