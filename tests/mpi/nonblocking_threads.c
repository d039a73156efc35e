/* nonblocking_threads: nonblocking exchanges of several threads at once, each on communicators of
 * its own, which it makes and frees.
 *
 *   mpiexec -n N nonblocking_threads [ROUNDS]
 * See threads.h for what it prints. */
#include "threads.h"

enum { kOpen = 6, kMostRanks = 64, kSize = 300 };

typedef int Blocks[kSize * kMostRanks];

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

static int work(int number, MPI_Comm base) {
  static Blocks sent[kThreads][kOpen], received[kThreads][kOpen];
  Blocks *const out = sent[number], *const in = received[number];
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Request requests[kOpen];
    MPI_Comm_dup(base, &comm);
    for (int i = 0; i < kOpen; ++i) {
      for (int at = 0; at < kSize * ranks; ++at) {
        out[i][at] = value(number, round, i, rank, at / kSize, at % kSize);
        in[i][at] = -1;
      }
      MPI_Ialltoall(out[i], kSize, MPI_INT, in[i], kSize, MPI_INT, comm, &requests[i]);
    }
    wait_for(requests, round);
    for (int i = 0; i < kOpen; ++i)
      for (int at = 0; at < kSize * ranks; ++at)
        wrong |= in[i][at] != value(number, round, i, at / kSize, rank, at % kSize);
    MPI_Comm_free(&comm);
  }
  return wrong;
}

int main(int argc, char** argv) { return run_threads(argc, argv, work); }
