// A block of a 4-D lattice a rank, as codes of lattice field theory have it.
#pragma once

#include "io_bench.h"

enum { kAxes = 4 };  // t, z, y, x; x runs fastest

typedef struct {
  int64_t n[kAxes];  // sites of the lattice
  int64_t site;      // bytes of a site
  int rank, ranks;
  int grid[kAxes], at[kAxes];        // of ranks, and this rank's place in it
  int64_t start[kAxes], own[kAxes];  // this rank's block, sites
} lattice_t;

// What the reporter of https://github.com/pmodels/mpich/issues/7935 wrote in place of
// MPI_File_write_all: an all-to-all among the ranks that together have a contiguous part of the
// file, and one large pwrite or pread each.
extern const bench_access_t lattice_by_hand;
