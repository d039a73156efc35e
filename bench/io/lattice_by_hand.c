#include <stdlib.h>
#include <string.h>

#include "io_access.h"
#include "lattice.h"

// The ranks of one slab, which is what has the same t: its lines along x are dealt out to them in
// the order of the file, so that each has one contiguous part of it.
typedef struct {
  MPI_Comm comm;
  int ranks, rank;
  int64_t lines;  // of the slab
  int *send_bytes, *send_at, *receive_bytes, *receive_at;
  unsigned char *received, *part;
} slab_t;

static slab_t slab;

// The first line of the part of `rank`.
static int64_t first_line(int rank) { return slab.lines * rank / slab.ranks; }

static int owner_of(int64_t line) {
  int rank = (int)(line * slab.ranks / slab.lines);
  while (first_line(rank + 1) <= line) ++rank;
  while (first_line(rank) > line) --rank;
  return rank;
}

// The block of a rank of the slab, in lines: `y` and `z` are where it begins, `x` its first site.
typedef struct {
  int64_t z, y, x;
} corner_t;

static corner_t corner_of(const lattice_t* l, int rank_in_slab) {
  const int64_t per_plane = l->grid[2] * l->grid[3];
  return (corner_t){.z = rank_in_slab / per_plane * l->own[1],
                    .y = rank_in_slab % per_plane / l->grid[3] * l->own[2],
                    .x = rank_in_slab % l->grid[3] * l->own[3]};
}

// The k-th line of a block, counted in the slab.
static int64_t line_of(const lattice_t* l, corner_t corner, int64_t k) {
  const int64_t y = k % l->own[2], z = k / l->own[2] % l->own[1], t = k / l->own[2] / l->own[1];
  return (t * l->n[1] + corner.z + z) * l->n[2] + corner.y + y;
}

static int64_t lines_of_block(const lattice_t* l) { return l->own[0] * l->own[1] * l->own[2]; }

static void open_slab(bench_file_t* file, const bench_options_t* options,
                      const bench_pattern_t* pattern, int writing) {
  const lattice_t* l = pattern->context;
  bench_open_posix(file, options, pattern, writing);
  MPI_Comm_split(MPI_COMM_WORLD, l->at[0], l->rank, &slab.comm);
  MPI_Comm_rank(slab.comm, &slab.rank);
  MPI_Comm_size(slab.comm, &slab.ranks);
  slab.lines = l->own[0] * l->n[1] * l->n[2];
  const size_t ranks = (size_t)slab.ranks;
  slab.send_bytes = calloc(4 * ranks, sizeof(int));
  slab.send_at = slab.send_bytes + ranks;
  slab.receive_bytes = slab.send_at + ranks;
  slab.receive_at = slab.receive_bytes + ranks;
  const int64_t piece = l->own[3] * l->site;
  for (int64_t k = 0; k < lines_of_block(l); ++k)
    slab.send_bytes[owner_of(line_of(l, corner_of(l, slab.rank), k))] += (int)piece;
  for (int source = 0; source < slab.ranks; ++source)
    for (int64_t k = 0; k < lines_of_block(l); ++k)
      if (owner_of(line_of(l, corner_of(l, source), k)) == slab.rank)
        slab.receive_bytes[source] += (int)piece;
  for (int r = 1; r < slab.ranks; ++r) {
    slab.send_at[r] = slab.send_at[r - 1] + slab.send_bytes[r - 1];
    slab.receive_at[r] = slab.receive_at[r - 1] + slab.receive_bytes[r - 1];
  }
  const size_t own = (size_t)((first_line(slab.rank + 1) - first_line(slab.rank)) * l->n[3]);
  slab.received = malloc(own * (size_t)l->site + 1);
  slab.part = malloc(own * (size_t)l->site + 1);
}

// Moves the pieces of all sources between where they were received and the part of the file.
static void arrange(const lattice_t* l, int into_part) {
  const int64_t piece = l->own[3] * l->site, first = first_line(slab.rank);
  for (int source = 0; source < slab.ranks; ++source) {
    const corner_t corner = corner_of(l, source);
    unsigned char* at = slab.received + slab.receive_at[source];
    for (int64_t k = 0; k < lines_of_block(l); ++k) {
      const int64_t line = line_of(l, corner, k);
      if (owner_of(line) != slab.rank) continue;
      unsigned char* there = slab.part + ((line - first) * l->n[3] + corner.x) * l->site;
      memcpy(into_part ? there : at, into_part ? at : there, (size_t)piece);
      at += piece;
    }
  }
}

static int64_t transfer_slab(bench_file_t* file, const bench_pattern_t* pattern, int writing,
                             unsigned char* memory) {
  const lattice_t* l = pattern->context;
  const int64_t first = first_line(slab.rank), line = l->n[3] * l->site;
  const int64_t bytes = (first_line(slab.rank + 1) - first) * line;
  const int64_t at = l->start[0] * l->n[1] * l->n[2] * line + first * line;
  // Lines of a block are in the order of their owners: it is sent as it lies in memory.
  if (!writing) {
    if (bench_transfer_posix(file, 0, slab.part, bytes, at) != bytes) return 0;
    arrange(l, 0);
    bench_check(MPI_Alltoallv(slab.received, slab.receive_bytes, slab.receive_at, MPI_BYTE, memory,
                              slab.send_bytes, slab.send_at, MPI_BYTE, slab.comm),
                "MPI_Alltoallv");
    return pattern->memory_bytes;
  }
  bench_check(MPI_Alltoallv(memory, slab.send_bytes, slab.send_at, MPI_BYTE, slab.received,
                            slab.receive_bytes, slab.receive_at, MPI_BYTE, slab.comm),
              "MPI_Alltoallv");
  arrange(l, 1);
  return bench_transfer_posix(file, 1, slab.part, bytes, at) == bytes ? pattern->memory_bytes : 0;
}

static void close_slab(bench_file_t* file) {
  bench_close_posix(file);
  MPI_Comm_free(&slab.comm);
  free(slab.send_bytes);
  free(slab.received);
  free(slab.part);
}

const bench_access_t lattice_by_hand = {open_slab, transfer_slab, close_slab};
