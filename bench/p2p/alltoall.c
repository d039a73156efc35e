// An all-to-all of MPI_Isend and MPI_Irecv, issued in an order that a file gives: the measurement
// of paper 000, section 4.1 (Fig. 8). Usage:
//
//   alltoall ORDERS BYTES WINDOW REPETITIONS
//
// Line r of ORDERS lists the peers of rank r, itself included, in the order in which it sends to
// them. All receives are posted first, in rank order. With a WINDOW of more than 0 at most so many
// sends are outstanding; 0 is the paper's way, everything at once and one MPI_Waitall. Each rank
// takes its own time until all of its messages are through. Prints one JSON line: of every
// repetition the time of the rank that was last and of the one that was first. Exit code 1 if a
// byte is wrong, 2 for a bad argument.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../library_name.h"
#include "../timing.h"

typedef struct {
  const char* orders;
  int bytes, window, repetitions;
  int rank, ranks;
  int* peers;               // in the order of issue
  unsigned char *out, *in;  // one message after the other, by rank
  MPI_Request *receives, *sends;
  MPI_Status* statuses;  // of either; GCC takes MPI_STATUSES_IGNORE for a mistake
} exchange_t;

static void refuse(const exchange_t* e, const char* what) {
  if (e->rank == 0) fprintf(stderr, "alltoall: %s\n", what);
  MPI_Finalize();
  exit(2);
}

// This rank's line of the file; a peer that is not there or there twice would leave others waiting.
// Every rank reads all lines: there are few.
static void read_order(exchange_t* e) {
  FILE* file = fopen(e->orders, "r");
  char* seen = calloc((size_t)e->ranks, 1);
  int peer = 0, bad = !file;
  for (int i = 0; !bad && i < e->ranks * e->ranks; ++i) {
    bad = fscanf(file, "%d", &peer) != 1 || peer < 0 || peer >= e->ranks;
    if (bad || i / e->ranks != e->rank) continue;
    e->peers[i % e->ranks] = peer;
    bad = seen[peer]++;
  }
  if (file) fclose(file);
  free(seen);
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (bad) refuse(e, "the file of orders has no such list for every rank");
}

static unsigned char byte_of(int from, int to, int repetition, int at) {
  return (unsigned char)(from * 31 + to * 17 + repetition * 7 + at + 1);
}

static unsigned char* message(const exchange_t* e, unsigned char* buffer, int peer) {
  return buffer + (size_t)peer * (size_t)e->bytes;
}

// Seconds of this rank for one exchange.
static double exchange(const exchange_t* e) {
  int outstanding = 0;
  const double start = timing_begin(MPI_COMM_WORLD);
  for (int peer = 0; peer < e->ranks; ++peer)
    MPI_Irecv(message(e, e->in, peer), e->bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
              &e->receives[peer]);
  for (int k = 0; k < e->ranks; ++k) {
    int slot = outstanding;
    if (e->window > 0 && outstanding == e->window)
      MPI_Waitany(outstanding, e->sends, &slot, MPI_STATUS_IGNORE);
    else
      ++outstanding;
    MPI_Isend(message(e, e->out, e->peers[k]), e->bytes, MPI_BYTE, e->peers[k], 0, MPI_COMM_WORLD,
              &e->sends[slot]);
  }
  MPI_Waitall(outstanding, e->sends, e->statuses);
  MPI_Waitall(e->ranks, e->receives, e->statuses);
  return clock_now() - start;
}

static long fill_or_check(const exchange_t* e, int repetition, int filling) {
  long wrong = 0;
  for (int peer = 0; peer < e->ranks; ++peer)
    for (int i = 0; i < e->bytes; ++i) {
      if (filling)
        message(e, e->out, peer)[i] = byte_of(e->rank, peer, repetition, i);
      else
        wrong += message(e, e->in, peer)[i] != byte_of(peer, e->rank, repetition, i);
    }
  if (filling) memset(e->in, 0, (size_t)e->ranks * (size_t)e->bytes);
  return wrong;
}

static void print_head(const exchange_t* e) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  printf(
      "{\"program\": \"alltoall\", \"mpi\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"window\": %d, "
      "\"results\": [",
      library_name(library), e->ranks, e->bytes, e->window);
}

static long run(const exchange_t* e) {
  long all_wrong = 0;
  if (e->rank == 0) print_head(e);
  for (int repetition = 0; repetition < e->repetitions; ++repetition) {
    fill_or_check(e, repetition, 1);
    const double own = exchange(e);
    all_wrong += timing_print(repetition, own, fill_or_check(e, repetition, 0));
  }
  if (e->rank == 0) printf("]}\n");
  return all_wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  exchange_t e = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
  if (argc == 5) {
    e.orders = argv[1];
    e.bytes = atoi(argv[2]);
    e.window = atoi(argv[3]);
    e.repetitions = atoi(argv[4]);
  }
  if (e.bytes < 1 || e.window < 0 || e.repetitions < 1)
    refuse(&e, "usage: alltoall ORDERS BYTES WINDOW REPETITIONS");
  const size_t ranks = (size_t)e.ranks;
  e.peers = calloc(ranks, sizeof *e.peers);
  e.receives = malloc(ranks * sizeof *e.receives);
  e.sends = malloc(ranks * sizeof *e.sends);
  e.statuses = malloc(ranks * sizeof *e.statuses);
  e.out = malloc(ranks * (size_t)e.bytes);
  e.in = malloc(ranks * (size_t)e.bytes);
  read_order(&e);
  const long wrong = run(&e);
  free(e.peers);
  free(e.receives);
  free(e.sends);
  free(e.statuses);
  free(e.out);
  free(e.in);
  MPI_Finalize();
  return wrong != 0;
}
