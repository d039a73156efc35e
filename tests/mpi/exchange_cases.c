/* Random all-to-all exchanges, checked byte by byte. Usage:
 *
 *   exchange_cases SEED CASES
 *
 * Each case draws, alike on all ranks: a communicator (all ranks, halves, all in reverse, a
 * duplicate), a function, sizes of the blocks (none, small, some kilobytes; equal, different or
 * mostly none) and how often it is called, with other bytes each time. Each rank draws for itself:
 * the datatypes of its two sides, contiguous or with gaps, and where its blocks begin. An element
 * is 12 bytes, whatever the datatype. Bytes between the elements must stay as they were.
 *
 * Prints "cases N wrong M" on rank 0; exit code 1 if anything was wrong. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT = 12, CANARY = 0xa5, MOST_RANKS = 64 };

static uint64_t next(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int below(uint64_t* state, int n) { return (int)(next(state) % (uint64_t)n); }

/* A datatype of 12 bytes: where they lie, and how far the next element is. */
typedef struct {
  MPI_Datatype type;
  int per_element; /* of `type` */
  int extent;      /* bytes from one element to the next */
  int at[ELEMENT]; /* of each byte in order of the typemap, from the element's begin */
} layout_t;

static layout_t make_layout(int kind) {
  layout_t layout = {MPI_BYTE, ELEMENT, ELEMENT, {0}};
  for (int i = 0; i < ELEMENT; ++i) layout.at[i] = i;
  MPI_Datatype inner, outer;
  if (kind == 1) layout.type = MPI_INT, layout.per_element = 3;
  if (kind == 2) { /* every other int */
    MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 24, &layout.type);
    MPI_Type_free(&inner);
    layout.extent = 24;
    for (int i = 0; i < ELEMENT; ++i) layout.at[i] = i / 4 * 8 + i % 4;
  }
  if (kind == 3) { /* the last four bytes first, and something in front */
    const int lengths[2] = {4, 8};
    const MPI_Aint places[2] = {11, 3};
    MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, &inner);
    MPI_Type_create_resized(inner, 0, 17, &layout.type);
    MPI_Type_free(&inner);
    layout.extent = 17;
    for (int i = 0; i < ELEMENT; ++i) layout.at[i] = i < 4 ? 11 + i : 3 + i - 4;
  }
  if (kind == 4) { /* nested deeper than haichi decodes */
    MPI_Type_contiguous(ELEMENT, MPI_BYTE, &inner);
    for (int depth = 0; depth < 520; ++depth) {
      MPI_Type_create_hvector(1, 1, 20, inner, &outer);
      MPI_Type_free(&inner);
      inner = outer;
    }
    MPI_Type_create_resized(inner, 0, 20, &layout.type);
    MPI_Type_free(&inner);
    layout.extent = 20;
  }
  if (kind >= 2) {
    layout.per_element = 1;
    MPI_Type_commit(&layout.type);
  }
  return layout;
}
enum { KINDS = 5 };

/* One side of a call. */
typedef struct {
  layout_t layout;
  int counts[MOST_RANKS], begins[MOST_RANKS]; /* elements */
  unsigned char* memory;
  size_t size;
} side_t;

static unsigned char byte_of(int from, int to, int call, int at) {
  return (unsigned char)(from * 37 + to * 11 + call * 101 + at * 7 + 3);
}

/* What lies at byte b of a side that has the blocks of this call; `mine` of the receiving side. */
static void fill(side_t* side, int sends, int me, int n, int call) {
  memset(side->memory, CANARY, side->size);
  for (int peer = 0; peer < n; ++peer)
    for (int i = 0; i < side->counts[peer] * ELEMENT; ++i) {
      const size_t at = (size_t)(side->begins[peer] + i / ELEMENT) * (size_t)side->layout.extent +
                        (size_t)side->layout.at[i % ELEMENT];
      side->memory[at] = sends ? byte_of(me, peer, call, i) : byte_of(peer, me, call, i);
    }
}

static void make_side(side_t* side, int n, int spaced, uint64_t* own) {
  int at = 0;
  for (int peer = 0; peer < n; ++peer) {
    side->begins[peer] = at += spaced ? below(own, 3) : 0;
    at += side->counts[peer];
  }
  side->size = (size_t)(at + 1) * (size_t)side->layout.extent + ELEMENT;
  side->memory = malloc(side->size);
}

static int call_it(MPI_Comm comm, int n, int regular, int large, const side_t* s, const side_t* r) {
  const int us = s->layout.per_element, ur = r->layout.per_element;
  int sc[MOST_RANKS], sd[MOST_RANKS], rc[MOST_RANKS], rd[MOST_RANKS];
  for (int i = 0; i < n; ++i) {
    sc[i] = s->counts[i] * us, sd[i] = s->begins[i] * us;
    rc[i] = r->counts[i] * ur, rd[i] = r->begins[i] * ur;
  }
#if MPI_VERSION >= 4
  if (large && regular)
    return MPI_Alltoall_c(s->memory, sc[0], s->layout.type, r->memory, rc[0], r->layout.type, comm);
  if (large) {
    MPI_Count lsc[MOST_RANKS], lrc[MOST_RANKS];
    MPI_Aint lsd[MOST_RANKS], lrd[MOST_RANKS];
    for (int i = 0; i < n; ++i) lsc[i] = sc[i], lsd[i] = sd[i], lrc[i] = rc[i], lrd[i] = rd[i];
    return MPI_Alltoallv_c(s->memory, lsc, lsd, s->layout.type, r->memory, lrc, lrd, r->layout.type,
                           comm);
  }
#endif
  (void)large;
  if (regular)
    return MPI_Alltoall(s->memory, sc[0], s->layout.type, r->memory, rc[0], r->layout.type, comm);
  return MPI_Alltoallv(s->memory, sc, sd, s->layout.type, r->memory, rc, rd, r->layout.type, comm);
}

static MPI_Comm make_comm(int kind, int rank, int ranks) {
  MPI_Comm comm;
  if (kind == 0) return MPI_COMM_WORLD;
  if (kind == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (kind == 2) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
  return comm;
}

/* One case; returns how many bytes or calls were wrong on this rank. */
static int run_case(uint64_t seed, int rank, int ranks) {
  uint64_t common = seed, own = seed * 1000003 + (uint64_t)rank;
  MPI_Comm comm = make_comm(below(&common, 4), rank, ranks);
  int me, n, wrong = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const int regular = below(&common, 2), shape = below(&common, 4), large = below(&common, 4) == 0;
  const int most = below(&common, 3) == 0 ? 700 : 12, calls = 2 + below(&common, 5);
  side_t send, receive;
  send.layout = make_layout(below(&own, 12) < 11 ? below(&own, KINDS - 1) : KINDS - 1);
  receive.layout = make_layout(below(&own, 12) < 11 ? below(&own, KINDS - 1) : KINDS - 1);
#ifdef OPEN_MPI
  /* Its Bruck's algorithm, from 12 ranks on, takes both sides' datatypes to have one extent
     (4.1.4: wrong bytes, and bytes beyond the buffer). */
  if (n >= 12) {
    if (receive.layout.extent != ELEMENT) MPI_Type_free(&receive.layout.type);
    receive.layout = send.layout;
  }
#endif
  const int equal = below(&common, most);
  const uint64_t sizes = next(&common);
  for (int peer = 0; peer < n; ++peer) {
    /* Every rank can tell the size of any block. */
    uint64_t out = sizes + (uint64_t)(me * MOST_RANKS + peer),
             in = sizes + (uint64_t)(peer * MOST_RANKS + me);
    send.counts[peer] = equal, receive.counts[peer] = equal;
    if (regular || shape == 0) continue;
    send.counts[peer] = shape == 1 && below(&out, 3) ? 0 : below(&out, most);
    receive.counts[peer] = shape == 1 && below(&in, 3) ? 0 : below(&in, most);
  }
  make_side(&send, n, !regular, &own);
  make_side(&receive, n, !regular, &own);
  unsigned char* expected = malloc(receive.size);
  for (int call = 0; call < calls; ++call) {
    fill(&send, 1, me, n, call);
    fill(&receive, 0, me, n, call);
    memcpy(expected, receive.memory, receive.size);
    memset(receive.memory, CANARY, receive.size);
    wrong += call_it(comm, n, regular, large, &send, &receive) != MPI_SUCCESS;
    for (size_t i = 0; i < receive.size; ++i) wrong += receive.memory[i] != expected[i];
  }
  free(expected);
  free(send.memory);
  free(receive.memory);
  if (receive.layout.extent != ELEMENT && receive.layout.type != send.layout.type)
    MPI_Type_free(&receive.layout.type);
  if (send.layout.extent != ELEMENT) MPI_Type_free(&send.layout.type);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, wrong_anywhere = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int cases = argc > 2 ? atoi(argv[2]) : 1;
  for (int i = 0; i < cases; ++i) {
    const int found = run_case(seed + (uint64_t)i, rank, ranks);
    if (found)
      printf("rank %d: case %llu: %d wrong\n", rank, (unsigned long long)seed + (unsigned)i, found);
    wrong += found;
  }
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("cases %d wrong %d\n", cases, wrong_anywhere);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
