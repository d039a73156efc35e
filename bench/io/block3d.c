// A 3-D array in a file, one block of it per rank, and large contiguous blocks.
//
//   --mode block  the array of nx * ny * nz elements (z runs fastest) is cut into a grid of
//                 px * py * pz blocks, where 0 is left to MPI_Dims_create; the view is a subarray.
//                 With --ghost G the block lies in memory inside a frame of G elements on each
//                 side, as a stencil code has it, and the memory type is a subarray too. Elements
//                 have --cell bytes: 8 are a double, 40 the five unknowns of NPB's BT at a point.
//   --mode large  rank r writes --block bytes at r * --block; what MPI-IO is best at without help.
#include <stdio.h>
#include <stdlib.h>

#include "io_bench.h"

enum { kBlock, kLarge, kDims = 3 };

typedef struct {
  int64_t n[kDims];     // elements of the array
  int64_t cell;         // bytes of an element
  int64_t grid[kDims];  // blocks; 0 is left to MPI_Dims_create
  int64_t ghost;        // elements
  int64_t block;        // bytes, --mode large
  int mode;
  int rank, ranks;
  int64_t start[kDims], own[kDims];  // this rank's block, elements
} block_t;

static bench_run_t run_at(const void* context, int64_t k) {
  const block_t* b = context;
  if (b->mode == kLarge)
    return (bench_run_t){.memory = 0, .file = b->rank * b->block, .size = b->block};
  const int64_t i = k / b->own[1], j = k % b->own[1], g = b->ghost;
  const int64_t row_in_memory = ((i + g) * (b->own[1] + 2 * g) + (j + g)) * (b->own[2] + 2 * g) + g;
  const int64_t row_in_file =
      ((b->start[0] + i) * b->n[1] + b->start[1] + j) * b->n[2] + b->start[2];
  return (bench_run_t){.memory = row_in_memory * b->cell,
                       .file = row_in_file * b->cell,
                       .size = b->own[2] * b->cell};
}

static void cut(block_t* b, int grid[kDims]) {
  int64_t given = 1;
  int open = 0;
  for (int d = 0; d < kDims; ++d) {
    grid[d] = (int)b->grid[d];
    if (grid[d])
      given *= grid[d];
    else
      open = 1;
  }
  if (open ? b->ranks % given : b->ranks != given)
    bench_refuse("--px, --py and --pz do not make %d blocks, one for each rank", b->ranks);
  bench_check(MPI_Dims_create(b->ranks, kDims, grid), "MPI_Dims_create");
  const int at[kDims] = {b->rank / (grid[1] * grid[2]), b->rank / grid[2] % grid[1],
                         b->rank % grid[2]};
  for (int d = 0; d < kDims; ++d) {
    if (b->n[d] < grid[d])
      bench_refuse("%lld elements cannot be cut into %d blocks: make the array larger",
                   (long long)b->n[d], grid[d]);
    b->start[d] = b->n[d] * at[d] / grid[d];
    b->own[d] = b->n[d] * (at[d] + 1) / grid[d] - b->start[d];
  }
}

static MPI_Datatype subarray(int64_t cell, const int64_t n[kDims], const int64_t own[kDims],
                             const int64_t start[kDims]) {
  MPI_Datatype element, type;
  int sizes[kDims], subsizes[kDims], starts[kDims];
  for (int d = 0; d < kDims; ++d) {
    sizes[d] = (int)n[d];
    subsizes[d] = (int)own[d];
    starts[d] = (int)start[d];
  }
  MPI_Type_contiguous((int)cell, MPI_BYTE, &element);
  bench_check(MPI_Type_create_subarray(kDims, sizes, subsizes, starts, MPI_ORDER_C, element, &type),
              "MPI_Type_create_subarray");
  MPI_Type_commit(&type);
  MPI_Type_free(&element);
  return type;
}

static int run_block(const bench_options_t* options, block_t* b) {
  int grid[kDims];
  cut(b, grid);
  int64_t framed[kDims], inside[kDims], framed_elements = 1;
  for (int d = 0; d < kDims; ++d) {
    framed[d] = b->own[d] + 2 * b->ghost;
    inside[d] = b->ghost;
    framed_elements *= framed[d];
  }
  char shape[256];
  snprintf(shape, sizeof shape,
           "{\"mode\": \"block\", \"array\": [%lld, %lld, %lld], \"cell\": %lld, "
           "\"grid\": [%d, %d, %d], \"ghost\": %lld}",
           (long long)b->n[0], (long long)b->n[1], (long long)b->n[2], (long long)b->cell, grid[0],
           grid[1], grid[2], (long long)b->ghost);
  bench_pattern_t pattern = {
      .program = "block3d",
      .shape = shape,
      .displacement = 0,
      .filetype = subarray(b->cell, b->n, b->own, b->start),
      .memtype = subarray(b->cell, framed, b->own, inside),
      .memory_bytes = framed_elements * b->cell,
      .file_bytes = b->n[0] * b->n[1] * b->n[2] * b->cell,
      .runs = b->own[0] * b->own[1],
      .run_at = run_at,
      .context = b,
  };
  const int code = bench_run(options, &pattern);
  MPI_Type_free(&pattern.filetype);
  MPI_Type_free(&pattern.memtype);
  return code;
}

static int run_large(const bench_options_t* options, const block_t* b) {
  char shape[96];
  snprintf(shape, sizeof shape, "{\"mode\": \"large\", \"block\": %lld}", (long long)b->block);
  MPI_Datatype block;
  MPI_Type_contiguous((int)b->block, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  const bench_pattern_t pattern = {
      .program = "block3d",
      .shape = shape,
      .displacement = b->rank * b->block,
      .filetype = MPI_BYTE,
      .memtype = block,
      .memory_bytes = b->block,
      .file_bytes = b->ranks * b->block,
      .runs = 1,
      .run_at = run_at,
      .context = b,
  };
  const int code = bench_run(options, &pattern);
  MPI_Type_free(&block);
  return code;
}

static void check(const block_t* b) {
  if (b->mode == kLarge && (b->block < 1 || b->block > INT32_MAX))
    bench_refuse("--block must be between 1 byte and 2 GiB - 1");
  for (int d = 0; d < kDims; ++d)
    if (b->n[d] < 1 || b->n[d] > 1 << 20 || b->grid[d] > 1 << 20 || b->ghost > 1024)
      bench_refuse(
          "--nx, --ny and --nz must be between 1 and 1048576, as --px, --py and --pz; --ghost at "
          "most 1024");
  if (b->cell < 1 || b->cell > 1 << 20) bench_refuse("--cell must be between 1 byte and 1 MiB");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  block_t b = {.n = {192, 192, 192}, .cell = 8, .ghost = 2, .block = 32 << 20, .mode = kBlock};
  MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
  const bench_flag_t flags[] = {
      {"mode", &b.mode, "block|large", "what is written (block)"},
      {"nx", &b.n[0], NULL, "elements, slowest dimension (192)"},
      {"ny", &b.n[1], NULL, "elements (192)"},
      {"nz", &b.n[2], NULL, "elements, fastest dimension (192)"},
      {"cell", &b.cell, NULL, "bytes of an element (8)"},
      {"px", &b.grid[0], NULL, "blocks along the slowest dimension; 0: any number (0)"},
      {"py", &b.grid[1], NULL, "blocks (0)"},
      {"pz", &b.grid[2], NULL, "blocks along the fastest dimension (0)"},
      {"ghost", &b.ghost, NULL, "elements of the frame around a block in memory (2)"},
      {"block", &b.block, NULL, "bytes of a rank in --mode large (33554432)"},
      {NULL, NULL, NULL, NULL},
  };
  bench_options_t options;
  bench_parse(argc, argv, flags, &options);
  check(&b);
  const int code = b.mode == kLarge ? run_large(&options, &b) : run_block(&options, &b);
  bench_free(&options);
  MPI_Finalize();
  return code;
}
