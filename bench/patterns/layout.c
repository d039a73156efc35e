#include "layout.h"

#include <stdlib.h>

#include "words.h"

enum { kDimensions = 4 };

// A number that looks drawn, the same for everybody.
static uint64_t drawn(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// `bytes` in a row, then nothing until `extent`.
// In place of the type, one of another extent.
static MPI_Datatype resized(MPI_Datatype type, int64_t extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(type, 0, (MPI_Aint)extent, &made);
  MPI_Type_free(&type);
  return made;
}

static MPI_Datatype row_of(int64_t bytes, int64_t extent) {
  MPI_Datatype row;
  MPI_Type_contiguous((int)bytes, MPI_BYTE, &row);
  return resized(row, extent);
}

// A row for each call, which has `bytes` at `displacement` of its part.
static layout_t in_a_row(MPI_Offset displacement, int64_t bytes, int64_t extent) {
  layout_t made = {displacement, MPI_BYTE, bytes, extent, 1};
  if (bytes > 0 && bytes != extent) made.filetype = row_of(bytes, extent);
  return made;
}

static layout_t segmented(const file_words_t* w, int rank, int ranks, int each) {
  const int64_t bytes = w->piece * w->pieces;
  if (each) return in_a_row(rank * bytes, bytes, ranks * bytes);
  return (layout_t){rank * w->calls * bytes, MPI_BYTE, bytes, bytes, 1};
}

static layout_t strided(const file_words_t* w, int rank, int ranks) {
  const int64_t stride = w->piece + w->gap;
  return (layout_t){rank * stride, row_of(w->piece, ranks * stride), w->piece * w->pieces,
                    w->pieces * ranks * stride, w->pieces == 1};
}

static int64_t part_of(const file_words_t* w, int rank) {
  return w->piece * (w->pieces + (int64_t)(drawn((uint64_t)rank) % (7 * (uint64_t)w->pieces + 1)));
}

static layout_t unequal(const file_words_t* w, int rank, int ranks) {
  int64_t before = 0, all = 0;
  for (int r = 0; r < ranks; ++r) {
    if (r < rank) before += part_of(w, r);
    all += part_of(w, r);
  }
  return in_a_row(before, part_of(w, rank), all);
}

static layout_t irregular(const file_words_t* w, int rank, int ranks) {
  const int64_t slots = w->pieces * ranks;
  MPI_Aint* at = malloc((size_t)slots * sizeof *at);
  int64_t own = 0;
  for (int64_t k = 0; k < slots; ++k)
    if ((int)(drawn((uint64_t)k) % (uint64_t)ranks) == rank)
      at[own++] = (MPI_Aint)(k * (w->piece + w->gap));
  MPI_Datatype type = MPI_BYTE;
  const int64_t extent = slots * (w->piece + w->gap);
  if (own > 0) {
    MPI_Type_create_hindexed_block((int)own, (int)w->piece, at, MPI_BYTE, &type);
    type = resized(type, extent);
  }
  free(at);
  return (layout_t){0, type, own * w->piece, extent, 0};
}

// As often between 1 and 10 as between 10 and 100; `number` is a drawn one.
static int64_t drawn_up_to(int64_t most, uint64_t number) {
  int bits = 0;
  while (most >> (bits + 1)) ++bits;
  const int64_t least = (int64_t)1 << (number >> 32) % (uint64_t)(bits + 1);
  const int64_t value = least + (int64_t)((number & 0xFFFFFFFFu) % (uint64_t)least);
  return value < most ? value : most;
}

// How many of eight pieces that a rank could have it has: a third of the ranks none.
static uint64_t share_of(const file_words_t* w, int rank) {
  const uint64_t number = drawn((uint64_t)w->seed * 1000003 + (uint64_t)rank);
  return number % 3 == 0 ? 0 : 1 + (number >> 8) % 8;
}

// Pieces one behind the other, each of a rank that is drawn by the ranks' shares; where that is
// nobody, there is a hole. Every other piece touches the one before.
static layout_t sparse(const file_words_t* w, int rank, int ranks) {
  const int64_t slots = w->pieces * ranks;
  MPI_Aint* at = malloc((size_t)slots * sizeof *at);
  int* sizes = malloc((size_t)slots * sizeof *sizes);
  int64_t bytes = 0, offset = 0;
  int own = 0;
  for (int64_t k = 0; k < slots; ++k) {
    const uint64_t number = drawn(((uint64_t)w->seed << 32) + (uint64_t)k);
    const int who = (int)(number % (uint64_t)ranks);
    const int64_t size = drawn_up_to(w->piece / 8, drawn(number)) * 8;
    if (number >> 20 & 1 && w->gap > 0) offset += drawn_up_to(w->gap, drawn(number + 1));
    if (who == rank && (number >> 40 & 7) < share_of(w, rank)) {
      at[own] = (MPI_Aint)offset;
      sizes[own++] = (int)size;
      bytes += size;
    }
    offset += size;
  }
  MPI_Datatype type = MPI_BYTE;
  if (own > 0) {
    MPI_Type_create_hindexed(own, sizes, at, MPI_BYTE, &type);
    type = resized(type, offset);
  }
  free(sizes);
  free(at);
  return (layout_t){0, type, bytes, offset, 0};
}

static layout_t one(const file_words_t* w, int rank, int ranks) {
  const int64_t all = ranks * w->piece * w->pieces;
  if (w->shape == kOne) return in_a_row(0, rank == 0 ? all : 0, all);
  if (rank > 0) return (layout_t){0, MPI_BYTE, 0, 2 * all, 0};
  return (layout_t){0, row_of(w->piece, 2 * w->piece), all, 2 * all, 0};
}

// Each of the quarter has as much more as it has fewer ranks.
static layout_t quarter(const file_words_t* w, int rank, int ranks) {
  const int have = ranks < 4 ? 1 : ranks / 4;
  file_words_t own = *w;
  own.pieces = w->pieces * ranks / have;
  layout_t made = strided(&own, rank % have, have);
  if (rank < have) return made;
  if (made.filetype != MPI_BYTE) MPI_Type_free(&made.filetype);
  return (layout_t){0, MPI_BYTE, 0, made.extent, 0};
}

// Rank 0's header at 0, then pieces in turn from `far` on: all of one call's.
static layout_t header(const file_words_t* w, int rank, int ranks) {
  const int64_t stride = w->piece + w->gap, extent = w->far + w->pieces * ranks * stride;
  const int own_header = rank == 0 && w->header > 0;
  MPI_Datatype cells, type;
  MPI_Type_create_hvector((int)w->pieces, (int)w->piece, (MPI_Aint)(ranks * stride), MPI_BYTE,
                          &cells);
  int lengths[2] = {own_header ? (int)w->header : 0, 1};
  MPI_Aint at[2] = {0, (MPI_Aint)(w->far + rank * stride)};
  MPI_Datatype types[2] = {MPI_BYTE, cells};
  MPI_Type_create_struct(own_header ? 2 : 1, lengths + !own_header, at + !own_header,
                         types + !own_header, &type);
  MPI_Type_free(&cells);
  const int64_t bytes = w->piece * w->pieces + (own_header ? w->header : 0);
  return (layout_t){0, resized(type, extent), bytes, extent, 0};
}

static int64_t unknowns_of(const file_words_t* w, int64_t call) {
  const char* at = w->unknowns;
  int64_t number = 1, count = 0;
  while (at && *at) words_next_number(&at), ++count;
  if (count == 0) return 1;
  at = w->unknowns;
  for (int64_t k = 0; k <= call % count; ++k) number = words_next_number(&at);
  return number;
}

// How many blocks there are along each dimension of the array; the first is never cut, it counts
// the unknowns.
static void grid_of(const file_words_t* w, int ranks, int dimensions, int grid[kDimensions]) {
  for (int d = 0; d < dimensions; ++d) grid[d] = w->shape == kBlock && d > 0 ? 0 : 1;
  if (w->shape == kColumns) grid[dimensions - 1] = ranks;
  if (w->shape == kRows) grid[1] = ranks;
  if (w->shape == kBlock) MPI_Dims_create(ranks, dimensions, grid);
}

static layout_t block(const file_words_t* w, int rank, int ranks, int64_t call) {
  int sizes[kDimensions] = {(int)unknowns_of(w, call)}, grid[kDimensions], parts[kDimensions],
      begins[kDimensions], how[kDimensions], with[kDimensions], dimensions = 1;
  const char* at = w->array;
  while (dimensions < kDimensions && (sizes[dimensions] = (int)words_next_number(&at)) > 0)
    ++dimensions;
  grid_of(w, ranks, dimensions, grid);
  int64_t cells = 1, own = 1;
  for (int d = dimensions - 1, rest = rank; d >= 0; rest /= grid[d], --d) {
    // As MPI_DISTRIBUTE_BLOCK has it: the last ones may have less.
    const int most = (sizes[d] + grid[d] - 1) / grid[d], first = rest % grid[d] * most;
    begins[d] = first;
    parts[d] = first >= sizes[d] ? 0 : sizes[d] - first < most ? sizes[d] - first : most;
    how[d] = MPI_DISTRIBUTE_BLOCK;
    with[d] = MPI_DISTRIBUTE_DFLT_DARG;
    cells *= sizes[d];
    own *= parts[d];
  }
  layout_t made = {0, MPI_BYTE, own * w->piece, cells * w->piece, 0};
  if (own == 0) return made;
  MPI_Datatype cell;
  MPI_Type_contiguous((int)w->piece, MPI_BYTE, &cell);
  if (w->darray)
    MPI_Type_create_darray(ranks, rank, dimensions, sizes, how, with, grid, MPI_ORDER_C, cell,
                           &made.filetype);
  else
    MPI_Type_create_subarray(dimensions, sizes, parts, begins, MPI_ORDER_C, cell, &made.filetype);
  MPI_Type_free(&cell);
  return made;
}

layout_t layout_make(const file_words_t* w, int rank, int ranks, int64_t call, int each) {
  layout_t made = {0, MPI_BYTE, 0, 0, 0};
  switch ((shape_t)w->shape) {
    case kSegmented:
      made = segmented(w, rank, ranks, each);
      break;
    case kStrided:
      made = strided(w, rank, ranks);
      break;
    case kBlock:
    case kColumns:
    case kRows:
      made = block(w, rank, ranks, call);
      break;
    case kUnequal:
      made = unequal(w, rank, ranks);
      break;
    case kIrregular:
      made = irregular(w, rank, ranks);
      break;
    case kOne:
    case kOneStrided:
      made = one(w, rank, ranks);
      break;
    case kHeader:
      made = header(w, rank, ranks);
      break;
    case kQuarter:
      made = quarter(w, rank, ranks);
      break;
    case kSparse:
      made = sparse(w, rank, ranks);
      break;
    case kFar:
      made = (layout_t){rank * w->far, MPI_BYTE, w->piece * w->pieces, 0, 1};
      break;
  }
  if (w->shape == kFar) made.extent = made.bytes;
  if (made.filetype != MPI_BYTE) MPI_Type_commit(&made.filetype);
  return made;
}

void layout_free(layout_t* layout) {
  if (layout->filetype != MPI_BYTE) MPI_Type_free(&layout->filetype);
}
