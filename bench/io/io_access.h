// How the bytes of a rank get into the file and out of it: collectively through MPI-IO, which is
// what is measured, or each rank's bytes by one contiguous pwrite or pread of its own. The second
// is the limit that the first is held against: the same bytes from the same ranks, nothing
// rearranged. A pattern may have a third, by hand.
#pragma once

#include "io_bench.h"

// A file that is open on all ranks.
typedef struct {
  MPI_File handle;  // of the collective access
  int descriptor;   // of the contiguous access
} bench_file_t;

// The parts of an access, each called on all ranks. They end the job if a call fails.
struct bench_access {
  void (*open)(bench_file_t* file, const bench_options_t* options, const bench_pattern_t* pattern,
               int writing);
  // Returns the bytes that this rank moved.
  int64_t (*transfer)(bench_file_t* file, const bench_pattern_t* pattern, int writing,
                      unsigned char* memory);
  void (*close)(bench_file_t* file);
};

extern const bench_access_t bench_collective;
extern const bench_access_t bench_contiguous;

// Open and close of an access by file descriptor, and a pwrite or pread of all that is asked for,
// of which it returns how many bytes there were.
void bench_open_posix(bench_file_t* file, const bench_options_t* options,
                      const bench_pattern_t* pattern, int writing);
int64_t bench_transfer_posix(const bench_file_t* file, int writing, unsigned char* memory,
                             int64_t bytes, int64_t at);
void bench_close_posix(bench_file_t* file);

// The pattern of the contiguous access: as many bytes of each rank as in `pattern`, rank after rank
// in the file. `bytes` are this rank's; `run` is filled in and must live as long as the result.
// Collective.
bench_pattern_t bench_packed(const bench_pattern_t* pattern, int64_t bytes, bench_run_t* run);
