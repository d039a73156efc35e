/* Random exchanges, all-to-all and all-gather, checked byte by byte. Usage:
 *
 *   exchange_cases SEED CASES
 *
 * Each case draws, alike on all ranks: a communicator (all ranks, halves, all in reverse, a
 * duplicate), a function, sizes of the blocks (none, small, some kilobytes; equal, different or
 * mostly none), whether an all-gather is in place, and how often it is called, with other bytes
 * each time. Each rank draws for itself: the datatypes of its two sides, contiguous or with gaps,
 * and where its blocks begin. An element is 12 bytes, whatever the datatype. Bytes between the
 * elements must stay as they were.
 *
 * Prints "cases N wrong M" on rank 0; exit code 1 if anything was wrong. */
#include "exchange_blocks.h"

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FUNCTIONS };

#ifndef LARGEST
#define LARGEST 700 /* elements of a block */
#endif

/* What all ranks have drawn alike. */
typedef struct {
  int function, large, in_place;
} call_t;
static int gathers(const call_t* c) { return c->function >= ALLGATHER; }
static int regular(const call_t* c) { return c->function == ALLTOALL || c->function == ALLGATHER; }

static void fill_sent(side_t* side, const call_t* c, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block)
    fill_block(side, block, me, gathers(c) ? 0 : block, call);
}

static void fill_received(side_t* side, const call_t* c, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block)
    fill_block(side, block, block, gathers(c) ? 0 : me, call);
}

static int call_it(MPI_Comm comm, const call_t* c, const side_t* s, const side_t* r) {
  const arguments_t as = arguments_of(s), ar = arguments_of(r);
  const void* from = c->in_place ? MPI_IN_PLACE : s->memory;
  const MPI_Datatype ts = as.types[0], tr = ar.types[0];
#if MPI_VERSION >= 4
  if (c->large) switch (c->function) {
      case ALLTOALL:
        return MPI_Alltoall_c(from, as.counts[0], ts, r->memory, ar.counts[0], tr, comm);
      case ALLTOALLV:
        return MPI_Alltoallv_c(from, as.large_counts, as.large_begins, ts, r->memory,
                               ar.large_counts, ar.large_begins, tr, comm);
      case ALLTOALLW:
        return MPI_Alltoallw_c(from, as.large_counts, as.large_begins, as.types, r->memory,
                               ar.large_counts, ar.large_begins, ar.types, comm);
      case ALLGATHER:
        return MPI_Allgather_c(from, as.counts[0], ts, r->memory, ar.counts[0], tr, comm);
      default:
        return MPI_Allgatherv_c(from, as.counts[0], ts, r->memory, ar.large_counts, ar.large_begins,
                                tr, comm);
    }
#endif
  switch (c->function) {
    case ALLTOALL:
      return MPI_Alltoall(from, as.counts[0], ts, r->memory, ar.counts[0], tr, comm);
    case ALLTOALLV:
      return MPI_Alltoallv(from, as.counts, as.begins, ts, r->memory, ar.counts, ar.begins, tr,
                           comm);
    case ALLTOALLW:
      return MPI_Alltoallw(from, as.counts, as.begins, as.types, r->memory, ar.counts, ar.begins,
                           ar.types, comm);
    case ALLGATHER:
      return MPI_Allgather(from, as.counts[0], ts, r->memory, ar.counts[0], tr, comm);
    default:
      return MPI_Allgatherv(from, as.counts[0], ts, r->memory, ar.counts, ar.begins, tr, comm);
  }
}

/* Every rank can tell the size of any block: those of one rank are alike in an all-gather. */
static int size_of(const call_t* c, int shape, int equal, int most, uint64_t sizes, int from,
                   int to) {
  uint64_t draw = sizes + (uint64_t)(from * MOST_RANKS + (gathers(c) ? 0 : to));
  if (regular(c) || shape == 0) return equal;
  return shape == 1 && below(&draw, 3) ? 0 : below(&draw, most);
}

/* One case; returns how many bytes or calls were wrong on this rank. */
static int run_case(uint64_t seed, int rank, int ranks) {
  uint64_t common = seed, own = seed * 1000003 + (uint64_t)rank;
  MPI_Comm comm = make_comm(below(&common, 4), rank, ranks);
  int me, n, wrong = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  call_t c = {below(&common, FUNCTIONS), below(&common, 4) == 0, below(&common, 3) == 0};
  c.in_place = c.in_place && gathers(&c);
  const int shape = below(&common, 4);
  const int most = below(&common, 3) == 0 ? LARGEST : 12, calls = 2 + below(&common, 5);
  side_t send, receive;
#ifdef OPEN_MPI
  /* Its MPI_Allgatherv chooses the algorithm by the size of the send type times the counts of
     received elements, so that ranks with other types choose another one (4.1.4: hangs). */
  uint64_t* const types = c.function == ALLGATHERV ? &common : &own;
#else
  uint64_t* const types = &own;
#endif
  draw_layouts(&send, types);
  draw_layouts(&receive, types);
#ifdef OPEN_MPI
  /* Its Bruck's algorithm, from 12 ranks on, takes both sides' datatypes to have one extent
     (4.1.4: wrong bytes, and bytes beyond the buffer). */
  const int one_extent = n >= 12 && c.function == ALLTOALL;
#else
  const int one_extent = 0;
#endif
  if (one_extent) {
    for (int i = 0; i < 2; ++i) {
      if (receive.layouts[i].extent != ELEMENT) MPI_Type_free(&receive.layouts[i].type);
      receive.layouts[i] = send.layouts[i];
    }
  }
  const int equal = below(&common, most);
  const uint64_t sizes = next(&common);
  send.blocks = gathers(&c) ? 1 : n;
  receive.blocks = n;
  send.typed = receive.typed = c.function == ALLTOALLW;
  for (int peer = 0; peer < n; ++peer) {
    send.counts[peer] = size_of(&c, shape, equal, most, sizes, me, peer);
    receive.counts[peer] = size_of(&c, shape, equal, most, sizes, peer, me);
  }
  /* On a single rank the libraries take no notice of displacements in MPI_Alltoallw (Open
     MPI 4.1.4) and MPI_Allgatherv (MPICH 4.0.2). */
  const int spaced = !regular(&c) && n > 1;
  make_side(&send, spaced && !gathers(&c), &own);
  make_side(&receive, spaced, &own);
  unsigned char* expected = malloc(receive.size);
  for (int call = 0; call < calls; ++call) {
    fill_sent(&send, &c, me, call);
    fill_received(&receive, &c, me, call);
    memcpy(expected, receive.memory, receive.size);
    memset(receive.memory, CANARY, receive.size);
    if (c.in_place) fill_block(&receive, me, me, 0, call);
    wrong += call_it(comm, &c, &send, &receive) != MPI_SUCCESS;
    for (size_t i = 0; i < receive.size; ++i) wrong += receive.memory[i] != expected[i];
  }
  free(expected);
  if (one_extent)
    free(receive.memory);
  else
    free_side(&receive);
  free_side(&send);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  return wrong;
}

int main(int argc, char** argv) { return run_cases(argc, argv, run_case); }
