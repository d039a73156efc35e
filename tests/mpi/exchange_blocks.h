/* One side of an exchange with a datatype of two for each block, and its bytes. */
#pragma once

#include "exchange_types.h"

enum { MOST_BLOCKS = MOST_RANKS };

typedef struct {
  layout_t layouts[2];
  int typed; /* the function takes a datatype for each block, and places in bytes */
  int blocks;
  int which[MOST_BLOCKS];  /* layout of each block */
  int counts[MOST_BLOCKS]; /* elements */
  int begins[MOST_BLOCKS]; /* bytes */
  unsigned char* memory;
  size_t size;
} side_t;

static inline const layout_t* layout_of(const side_t* side, int block) {
  return &side->layouts[side->which[block]];
}

/* What lies in a block: bytes from a rank to somebody. */
static inline void fill_block(side_t* side, int block, int from, int to, int call) {
  const layout_t* layout = layout_of(side, block);
  for (int i = 0; i < side->counts[block] * ELEMENT; ++i)
    side->memory[side->begins[block] + i / ELEMENT * layout->extent + layout->at[i % ELEMENT]] =
        byte_of(from, to, call, i);
}

/* Draws where the blocks lie: one after the other, or with gaps of some elements. */
static inline void make_side(side_t* side, int spaced, uint64_t* own) {
  int at = 0;
  for (int block = 0; block < side->blocks; ++block) {
    side->which[block] = side->typed ? below(own, 2) : 0;
    const int extent = layout_of(side, block)->extent;
    side->begins[block] = at += spaced ? below(own, 3) * extent : 0;
    at += side->counts[block] * extent;
  }
  side->size = (size_t)at + 64;
  side->memory = malloc(side->size);
}

/* A side as the functions take it. */
typedef struct {
  int counts[MOST_BLOCKS], begins[MOST_BLOCKS];
  MPI_Aint large_begins[MOST_BLOCKS];
  MPI_Datatype types[MOST_BLOCKS];
#if MPI_VERSION >= 4
  MPI_Count large_counts[MOST_BLOCKS];
#endif
} arguments_t;

static inline arguments_t arguments_of(const side_t* side) {
  arguments_t a;
  memset(&a, 0, sizeof a);
  for (int i = 0; i < side->blocks; ++i) {
    const layout_t* layout = layout_of(side, i);
    a.counts[i] = side->counts[i] * layout->per_element;
    /* Extents of the type that the function is given, or bytes. */
    const int unit = layout->extent == ELEMENT ? ELEMENT / layout->per_element : layout->extent;
    a.begins[i] = side->typed ? side->begins[i] : side->begins[i] / unit;
    a.large_begins[i] = a.begins[i];
    a.types[i] = layout->type;
#if MPI_VERSION >= 4
    a.large_counts[i] = a.counts[i];
#endif
  }
  return a;
}

static inline void draw_layouts(side_t* side, uint64_t* own) {
  for (int i = 0; i < 2; ++i)
    side->layouts[i] = make_layout(below(own, 12) < 11 ? below(own, KINDS - 1) : KINDS - 1);
}

static inline void free_types(side_t* side) {
  for (int i = 0; i < 2; ++i)
    if (side->layouts[i].extent != ELEMENT) MPI_Type_free(&side->layouts[i].type);
}

static inline void free_side(side_t* side) {
  free(side->memory);
  free_types(side);
}
