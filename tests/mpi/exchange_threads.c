/* exchange_threads: blocking exchanges of several threads at once, each on communicators of its
 * own, which it makes and frees.
 *
 *   mpiexec -n N exchange_threads [ROUNDS]
 * Each round is a communicator on which all functions are called in turn, often enough for trials
 * to come to an end; the threads free theirs at the same time. Blocks of one size are of another
 * size on each thread. See threads.h for what it prints. */
#include <string.h>

#include "threads.h"

enum { ALLTOALL, ALLTOALLV, ALLGATHER, FUNCTIONS };
enum { kCalls = 40, kMostRanks = 16, kBlock = 24, kRoom = kBlock << kThreads, kCanary = 0xa5 };

typedef unsigned char Blocks[kMostRanks * kRoom];

static pthread_barrier_t all_threads;

static unsigned char byte_of(int thread, int call, int from, int to, int at) {
  return (unsigned char)(thread * 53 + call * 101 + from * 37 + to * 11 + at * 7 + 3);
}

static int size_of(int function, int thread, int call, int from, int to) {
  return function == ALLTOALLV ? (from * 5 + to * 3 + call) % kRoom : kBlock << thread;
}

/* Each block has its room, of which it may fill a part. Returns whether a byte was wrong. */
static int exchange(int function, int thread, int call, MPI_Comm comm) {
  Blocks out, in, expected;
  int sent[kMostRanks], received[kMostRanks], at[2][kMostRanks];
  const int regular = function != ALLTOALLV;
  memset(expected, kCanary, sizeof expected);
  memset(in, kCanary, sizeof in);
  for (int peer = 0; peer < ranks; ++peer) {
    sent[peer] = size_of(function, thread, call, rank, peer);
    received[peer] = size_of(function, thread, call, peer, rank);
    at[0][peer] = peer * (regular ? sent[peer] : kRoom);
    at[1][peer] = peer * (regular ? received[peer] : kRoom);
    const int gathers = function == ALLGATHER;
    for (int i = 0; i < sent[peer]; ++i)
      out[at[0][peer] + i] = byte_of(thread, call, rank, gathers ? 0 : peer, i);
    for (int i = 0; i < received[peer]; ++i)
      expected[at[1][peer] + i] = byte_of(thread, call, peer, gathers ? 0 : rank, i);
  }
  if (function == ALLTOALL)
    MPI_Alltoall(out, sent[0], MPI_BYTE, in, received[0], MPI_BYTE, comm);
  else if (function == ALLTOALLV)
    MPI_Alltoallv(out, sent, at[0], MPI_BYTE, in, received, at[1], MPI_BYTE, comm);
  else
    MPI_Allgather(out, sent[0], MPI_BYTE, in, received[0], MPI_BYTE, comm);
  return memcmp(in, expected, sizeof in) != 0;
}

static int work(int number, MPI_Comm base) {
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(base, &comm);
    for (int call = 0; call < FUNCTIONS * kCalls; ++call)
      wrong |= exchange(call % FUNCTIONS, number, call, comm);
    pthread_barrier_wait(&all_threads);
    MPI_Comm_free(&comm);
  }
  return wrong;
}

int main(int argc, char** argv) {
  pthread_barrier_init(&all_threads, NULL, kThreads);
  return run_threads(argc, argv, work);
}
