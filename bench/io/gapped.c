// Several 2-D arrays one after the other in a file, and a buffer with a gap of a few bytes in it:
// https://github.com/pmodels/mpich/issues/6985. Each array is cut into blocks, one a rank; a rank's
// blocks lie one after the other in memory, with --gap bytes between the first half of them and the
// second.
#include <stdio.h>
#include <stdlib.h>

#include "io_bench.h"

typedef struct {
  int64_t arrays, rows, row, gap;  // of a block: rows, and bytes of a row; bytes of the gap
  int grid[2], at[2];
} gapped_t;

static int64_t block_bytes(const gapped_t* g) { return g->rows * g->row; }

static bench_run_t run_at(const void* context, int64_t k) {
  const gapped_t* g = context;
  const int64_t array = k / g->rows, row = k % g->rows, wide = g->row * g->grid[1];
  const int64_t in_array = (g->at[0] * g->rows + row) * wide + g->at[1] * g->row;
  const int64_t array_bytes = g->rows * g->grid[0] * wide;
  return (bench_run_t){.memory = k * g->row + (array >= g->arrays / 2 ? g->gap : 0),
                       .file = array * array_bytes + in_array,
                       .size = g->row};
}

// The view: the rank's block of each array.
static MPI_Datatype blocks_of(const gapped_t* g) {
  const int sizes[] = {(int)g->rows * g->grid[0], (int)g->row * g->grid[1]};
  const int subsizes[] = {(int)g->rows, (int)g->row};
  const int starts[] = {(int)g->rows * g->at[0], (int)g->row * g->at[1]};
  const size_t arrays = (size_t)g->arrays;
  int* lengths = malloc(arrays * sizeof *lengths);
  MPI_Aint* at = malloc(arrays * sizeof *at);
  MPI_Datatype *types = malloc(arrays * sizeof *types), block, all;
  if (!lengths || !at || !types) bench_check(MPI_ERR_NO_MEM, "malloc");
  bench_check(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_BYTE, &block),
              "MPI_Type_create_subarray");
  for (size_t i = 0; i < arrays; ++i) {
    lengths[i] = 1;
    at[i] = (MPI_Aint)i * sizes[0] * sizes[1];
    types[i] = block;
  }
  bench_check(MPI_Type_create_struct((int)arrays, lengths, at, types, &all),
              "MPI_Type_create_struct");
  MPI_Type_commit(&all);
  MPI_Type_free(&block);
  free(lengths);
  free(at);
  free(types);
  return all;
}

static MPI_Datatype two_halves(const gapped_t* g) {
  const int64_t first = g->arrays / 2 * block_bytes(g), all = g->arrays * block_bytes(g);
  const int lengths[] = {(int)first, (int)(all - first)};
  const MPI_Aint at[] = {0, (MPI_Aint)(first + g->gap)};
  MPI_Datatype halves;
  bench_check(MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &halves),
              "MPI_Type_create_hindexed");
  MPI_Type_commit(&halves);
  return halves;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  gapped_t g = {.arrays = 64, .rows = 64, .row = 2048, .gap = 16};
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bench_flag_t flags[] = {
      {"arrays", &g.arrays, NULL, "how many (64)"},
      {"rows", &g.rows, NULL, "of a rank's block (64)"},
      {"row", &g.row, NULL, "bytes of a row of a rank's block (2048)"},
      {"gap", &g.gap, NULL, "bytes in the middle of the buffer (16)"},
      {NULL, NULL, NULL, NULL},
  };
  bench_options_t options;
  bench_parse(argc, argv, flags, &options);
  if (g.arrays < 1 || g.rows < 1 || g.row < 1 || g.arrays > 4096 || g.rows > 4096 ||
      g.row > 1 << 16 || g.gap > 1 << 20 || g.arrays * block_bytes(&g) > 1 << 30)
    bench_refuse("--arrays, --rows and --row must be at least 1, and 1 GiB a rank in all at most");
  bench_check(MPI_Dims_create(ranks, 2, g.grid), "MPI_Dims_create");
  g.at[0] = rank / g.grid[1];
  g.at[1] = rank % g.grid[1];
  char shape[160];
  snprintf(shape, sizeof shape,
           "{\"arrays\": %lld, \"rows\": %lld, \"row\": %lld, \"gap\": %lld, \"grid\": [%d, %d]}",
           (long long)g.arrays, (long long)g.rows, (long long)g.row, (long long)g.gap, g.grid[0],
           g.grid[1]);
  bench_pattern_t pattern = {
      .program = "gapped",
      .shape = shape,
      .filetype = blocks_of(&g),
      .memtype = two_halves(&g),
      .memory_bytes = g.arrays * block_bytes(&g) + g.gap,
      .file_bytes = g.arrays * block_bytes(&g) * ranks,
      .runs = g.arrays * g.rows,
      .run_at = run_at,
      .context = &g,
  };
  return bench_conclude(&options, &pattern);
}
