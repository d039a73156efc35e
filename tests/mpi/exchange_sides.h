/* The two sides of an all-to-all with one datatype each, and their bytes. */
#pragma once

#include "exchange_types.h"

/* One side of a call. */
typedef struct {
  layout_t layout;
  int counts[MOST_RANKS], begins[MOST_RANKS]; /* elements */
  unsigned char* memory;
  size_t size;
} side_t;

/* What lies at byte b of a side that has the blocks of this call; `mine` of the receiving side. */
static inline void fill(side_t* side, int sends, int me, int n, int call) {
  memset(side->memory, CANARY, side->size);
  for (int peer = 0; peer < n; ++peer)
    for (int i = 0; i < side->counts[peer] * ELEMENT; ++i) {
      const size_t at = (size_t)(side->begins[peer] + i / ELEMENT) * (size_t)side->layout.extent +
                        (size_t)side->layout.at[i % ELEMENT];
      side->memory[at] = sends ? byte_of(me, peer, call, i) : byte_of(peer, me, call, i);
    }
}

static inline void make_side(side_t* side, int n, int spaced, uint64_t* own) {
  int at = 0;
  for (int peer = 0; peer < n; ++peer) {
    side->begins[peer] = at += spaced ? below(own, 3) : 0;
    at += side->counts[peer];
  }
  side->size = (size_t)(at + 1) * (size_t)side->layout.extent + ELEMENT;
  side->memory = malloc(side->size);
}

/* Sizes and datatypes of both sides, drawn alike on all ranks (`common`) or by each for itself
   (`own`). `shape` of the sizes: 0 equal, 1 mostly none, else different. */
static inline void draw_sides(side_t* send, side_t* receive, int me, int n, int regular, int shape,
                              int most, uint64_t* common, uint64_t* own) {
  send->layout = make_layout(below(own, 12) < 11 ? below(own, KINDS - 1) : KINDS - 1);
  receive->layout = make_layout(below(own, 12) < 11 ? below(own, KINDS - 1) : KINDS - 1);
#ifdef OPEN_MPI
  /* Its Bruck's algorithm, from 12 ranks on, takes both sides' datatypes to have one extent
     (4.1.4: wrong bytes, and bytes beyond the buffer). */
  if (n >= 12) {
    if (receive->layout.extent != ELEMENT) MPI_Type_free(&receive->layout.type);
    receive->layout = send->layout;
  }
#endif
  const int equal = below(common, most);
  const uint64_t sizes = next(common);
  for (int peer = 0; peer < n; ++peer) {
    /* Every rank can tell the size of any block. */
    uint64_t out = sizes + (uint64_t)(me * MOST_RANKS + peer),
             in = sizes + (uint64_t)(peer * MOST_RANKS + me);
    send->counts[peer] = equal, receive->counts[peer] = equal;
    if (regular || shape == 0) continue;
    send->counts[peer] = shape == 1 && below(&out, 3) ? 0 : below(&out, most);
    receive->counts[peer] = shape == 1 && below(&in, 3) ? 0 : below(&in, most);
  }
  make_side(send, n, !regular, own);
  make_side(receive, n, !regular, own);
}

static inline void free_types(side_t* send, side_t* receive) {
  if (receive->layout.extent != ELEMENT && receive->layout.type != send->layout.type)
    MPI_Type_free(&receive->layout.type);
  if (send->layout.extent != ELEMENT) MPI_Type_free(&send->layout.type);
}
