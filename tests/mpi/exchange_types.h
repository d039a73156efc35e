/* What the programs of random exchanges share: draws, datatypes, bytes and communicators. An
 * element is 12 bytes, whatever the datatype. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT = 12, CANARY = 0xa5, MOST_RANKS = 64 };

static inline uint64_t next(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline int below(uint64_t* state, int n) { return (int)(next(state) % (uint64_t)n); }

/* A datatype of 12 bytes: where they lie, and how far the next element is. */
typedef struct {
  MPI_Datatype type;
  int per_element; /* of `type` */
  int extent;      /* bytes from one element to the next */
  int at[ELEMENT]; /* of each byte in order of the typemap, from the element's begin */
} layout_t;

static inline layout_t make_layout(int kind) {
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

static inline unsigned char byte_of(int from, int to, int call, int at) {
  return (unsigned char)(from * 37 + to * 11 + call * 101 + at * 7 + 3);
}

static inline MPI_Comm make_comm(int kind, int rank, int ranks) {
  MPI_Comm comm;
  if (kind == 0) return MPI_COMM_WORLD;
  if (kind == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (kind == 2) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
  return comm;
}

/* The whole program: `seed cases` on its command line. run_case(seed, rank, ranks) returns how much
 * is wrong on this rank. */
static inline int run_cases(int argc, char** argv, int (*run_case)(uint64_t, int, int)) {
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
