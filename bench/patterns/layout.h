// Where the bytes of one call lie in the file: a shape, as the words of a pattern name it.
//
// Offsets and sizes are bytes. The calls of a pattern follow each other in the file.
#pragma once

#include <mpi.h>
#include <stdint.h>

typedef enum {
  kSegmented,   // a segment of the file for each rank, filled call after call
  kStrided,     // ranks take turns by `piece`, `gap` bytes lie behind each
  kBlock,       // blocks of an array of cells of `piece` bytes, as even a grid as there is
  kColumns,     // the same, cut along the fastest dimension alone
  kRows,        // the same, cut along the slowest
  kUnequal,     // contiguous parts, from `pieces` to 8 times as much
  kIrregular,   // pieces of `piece` bytes, each of any one rank
  kOne,         // rank 0 has everything, contiguous
  kOneStrided,  // rank 0 has everything, with holes as large as the pieces
  kHeader,      // rank 0 has `header` bytes at the begin, all take turns from `far` on
  kFar,         // contiguous parts `far` bytes apart
  kSparse,      // about `pieces` pieces a rank, 8 bytes to `piece`, holes up to `gap`, drawn by
                // `seed`; ranks have more or less of them, some nothing
  kQuarter,     // the first quarter of the ranks has everything, and takes turns by `piece`
} shape_t;

typedef struct {
  int shape;   // shape_t
  int darray;  // blocks as MPI_Type_create_darray has them
  int64_t piece, pieces, gap, header, far, seed, calls;
  const char* array;     // of cells, slowest dimension first: 64x64x64
  const char* unknowns;  // how many such arrays are in a call, by call: 11,3,1,1
} file_words_t;

#define SHAPES                                                                                \
  "segmented|strided|block|columns|rows|unequal|irregular|one|one-strided|header|far|sparse|" \
  "quarter"

// What a rank has in one call.
typedef struct {
  MPI_Offset displacement;  // from the begin of the call's part of the file
  MPI_Datatype filetype;    // MPI_BYTE if the rank's bytes lie in a row, call after call
  int64_t bytes;            // of the rank
  int64_t extent;           // of the call's part of the file
  int contiguous;           // the bytes of a call lie in a row
} layout_t;

// `each` says that the file's view is set for each call, so that a call's part of the file stands
// for itself.
layout_t layout_make(const file_words_t* words, int rank, int ranks, int64_t call, int each);
void layout_free(layout_t* layout);
