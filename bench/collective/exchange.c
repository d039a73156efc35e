// Collective exchanges one after the other, as a program makes them. Usage:
//
//   exchange FUNCTION BYTES CALLS
//
// FUNCTION is alltoall, alltoallv (blocks of one size), skewed (MPI_Alltoallv; blocks from none
// to four times BYTES, BYTES in the mean), grid (MPI_Neighbor_alltoallv in two dimensions that are
// not periodic) or allgather; with an i before one of the first four, the nonblocking form and
// MPI_Wait right behind it. Prints one JSON line: the time of the slowest
// and of the fastest rank in each call. Exit code 1 if a byte is wrong, 2 for a bad argument.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../library_name.h"
#include "../timing.h"

typedef struct {
  const char* function;  // without the i
  int nonblocking, bytes, calls;
  int rank, ranks;
  MPI_Comm comm;
  int places;  // blocks on each side
  int* peers;  // whose they are, by place
  int *out_bytes, *in_bytes, *out_at, *in_at;
  unsigned char *out, *in;
} exchange_t;

static void refuse(int rank, const char* what) {
  if (rank == 0) fprintf(stderr, "exchange: %s\n", what);
  MPI_Finalize();
  exit(2);
}

// Of the block from a rank to a rank. Skewed: one in four has four times as much, the others none.
static int size_of(const exchange_t* e, int from, int to) {
  if (strcmp(e->function, "skewed") != 0) return e->bytes;
  return (from * 7 + to * 3) % 4 == 0 ? 4 * e->bytes : 0;
}

static int gathers(const exchange_t* e) { return strcmp(e->function, "allgather") == 0; }
static int in_grid(const exchange_t* e) { return strcmp(e->function, "grid") == 0; }

static unsigned char byte_of(int from, int to, int call, int at) {
  return (unsigned char)(from * 37 + to * 11 + call * 101 + at * 7 + 3);
}

static long fill_or_check(const exchange_t* e, int call, int filling) {
  long wrong = 0;
  for (int place = 0; place < e->places; ++place) {
    const int peer = e->peers[place];
    // What is gathered is what rank 0 would get of an all-to-all.
    const int to = gathers(e) ? 0 : filling ? peer : e->rank;
    if (filling)
      for (int i = 0; i < e->out_bytes[place]; ++i)
        e->out[e->out_at[place] + i] = byte_of(e->rank, to, call, i);
    else
      for (int i = 0; i < e->in_bytes[place]; ++i)
        wrong += e->in[e->in_at[place] + i] != byte_of(peer, to, call, i);
  }
  return wrong;
}

static double call_it(const exchange_t* e) {
  MPI_Request request = MPI_REQUEST_NULL;
  const double start = timing_begin(e->comm);
  if (in_grid(e) && e->nonblocking)
    MPI_Ineighbor_alltoallv(e->out, e->out_bytes, e->out_at, MPI_BYTE, e->in, e->in_bytes, e->in_at,
                            MPI_BYTE, e->comm, &request);
  else if (in_grid(e))
    MPI_Neighbor_alltoallv(e->out, e->out_bytes, e->out_at, MPI_BYTE, e->in, e->in_bytes, e->in_at,
                           MPI_BYTE, e->comm);
  else if (e->nonblocking && strcmp(e->function, "alltoall") == 0)
    MPI_Ialltoall(e->out, e->bytes, MPI_BYTE, e->in, e->bytes, MPI_BYTE, e->comm, &request);
  else if (e->nonblocking)
    MPI_Ialltoallv(e->out, e->out_bytes, e->out_at, MPI_BYTE, e->in, e->in_bytes, e->in_at,
                   MPI_BYTE, e->comm, &request);
  else if (strcmp(e->function, "alltoall") == 0)
    MPI_Alltoall(e->out, e->bytes, MPI_BYTE, e->in, e->bytes, MPI_BYTE, e->comm);
  else if (gathers(e))
    MPI_Allgather(e->out, e->bytes, MPI_BYTE, e->in, e->bytes, MPI_BYTE, e->comm);
  else
    MPI_Alltoallv(e->out, e->out_bytes, e->out_at, MPI_BYTE, e->in, e->in_bytes, e->in_at, MPI_BYTE,
                  e->comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return clock_now() - start;
}

static long run(const exchange_t* e) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  long all_wrong = 0;
  if (e->rank == 0)
    printf(
        "{\"program\": \"exchange\", \"mpi\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"results\": [",
        library_name(library), e->ranks, e->bytes);
  for (int call = 0; call < e->calls; ++call) {
    fill_or_check(e, call, 1);
    const double own = call_it(e);
    all_wrong += timing_print(call, own, fill_or_check(e, call, 0));
  }
  if (e->rank == 0) printf("]}\n");
  return all_wrong;
}

// Who has a block of this rank's.
static void find_peers(exchange_t* e) {
  e->comm = MPI_COMM_WORLD;
  e->places = in_grid(e) ? 4 : e->ranks;
  e->peers = malloc((size_t)e->places * sizeof *e->peers);
  if (!in_grid(e)) {
    for (int i = 0; i < e->places; ++i) e->peers[i] = i;
    return;
  }
  int shape[2] = {0, 0};
  const int periodic[2] = {0, 0};
  MPI_Dims_create(e->ranks, 2, shape);
  MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 0, &e->comm);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(e->comm, d, 1, &e->peers[2 * d], &e->peers[2 * d + 1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  exchange_t e = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
  if (argc == 4) {
    e.nonblocking = argv[1][0] == 'i';
    e.function = argv[1] + e.nonblocking;
    e.bytes = atoi(argv[2]);
    e.calls = atoi(argv[3]);
  }
  if (e.bytes < 1 || e.calls < 1 ||
      (strcmp(e.function, "alltoall") && strcmp(e.function, "alltoallv") &&
       strcmp(e.function, "skewed") && !in_grid(&e) && (e.nonblocking || !gathers(&e))))
    refuse(e.rank, "usage: exchange [i](alltoall|alltoallv|skewed|grid)|allgather BYTES CALLS");
  find_peers(&e);
  int* numbers = calloc(4 * (size_t)e.places, sizeof *numbers);
  e.out_bytes = numbers, e.in_bytes = numbers + e.places;
  e.out_at = numbers + 2 * e.places, e.in_at = numbers + 3 * e.places;
  int out = 0, in = 0;
  for (int place = 0; place < e.places; ++place) {
    const int peer = e.peers[place], there = peer != MPI_PROC_NULL;
    e.out_bytes[place] = there ? size_of(&e, e.rank, peer) : 0;
    e.in_bytes[place] = there ? size_of(&e, peer, e.rank) : 0;
    e.out_at[place] = out, e.in_at[place] = in;
    out += e.out_bytes[place], in += e.in_bytes[place];
  }
  e.out = malloc((size_t)out + 1), e.in = malloc((size_t)in + 1);
  const long wrong = run(&e);
  if (e.comm != MPI_COMM_WORLD) MPI_Comm_free(&e.comm);
  free(e.peers);
  free(numbers);
  free(e.out);
  free(e.in);
  MPI_Finalize();
  return wrong != 0;
}
