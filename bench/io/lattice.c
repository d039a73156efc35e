// A 4-D lattice in a file, a block of it per rank: https://github.com/pmodels/mpich/issues/7935.
// The lattice of nt * nz * ny * nx sites (x runs fastest) is cut into a grid of blocks by
// MPI_Dims_create; the view is a subarray, in memory the block is contiguous. 144 bytes are a link
// of SU(3) in single precision, two rows of it in double.
#include "lattice.h"

#include <stdio.h>

static bench_run_t run_at(const void* context, int64_t k) {
  const lattice_t* l = context;
  const int64_t y = k % l->own[2], z = k / l->own[2] % l->own[1], t = k / l->own[2] / l->own[1];
  const int64_t line = ((l->start[0] + t) * l->n[1] + l->start[1] + z) * l->n[2] + l->start[2] + y;
  return (bench_run_t){.memory = k * l->own[3] * l->site,
                       .file = (line * l->n[3] + l->start[3]) * l->site,
                       .size = l->own[3] * l->site};
}

static void cut(lattice_t* l) {
  bench_check(MPI_Dims_create(l->ranks, kAxes, l->grid), "MPI_Dims_create");
  int rest = l->rank;
  for (int d = kAxes - 1; d >= 0; --d) {
    l->at[d] = rest % l->grid[d];
    rest /= l->grid[d];
    if (l->n[d] % l->grid[d])
      bench_refuse("%lld sites cannot be cut into %d equal blocks: use a multiple of it",
                   (long long)l->n[d], l->grid[d]);
    l->own[d] = l->n[d] / l->grid[d];
    l->start[d] = l->own[d] * l->at[d];
  }
}

static int run(bench_options_t* options, const lattice_t* l) {
  MPI_Datatype site, block, memory;
  int sizes[kAxes], subsizes[kAxes], starts[kAxes];
  int64_t sites = 1, lattice = 1;
  for (int d = 0; d < kAxes; ++d) {
    sizes[d] = (int)l->n[d];
    subsizes[d] = (int)l->own[d];
    starts[d] = (int)l->start[d];
    sites *= l->own[d];
    lattice *= l->n[d];
  }
  MPI_Type_contiguous((int)l->site, MPI_BYTE, &site);
  bench_check(MPI_Type_create_subarray(kAxes, sizes, subsizes, starts, MPI_ORDER_C, site, &block),
              "MPI_Type_create_subarray");
  MPI_Type_commit(&block);
  bench_check(MPI_Type_contiguous((int)sites, site, &memory), "MPI_Type_contiguous");
  MPI_Type_commit(&memory);
  char shape[192];
  snprintf(shape, sizeof shape,
           "{\"lattice\": [%d, %d, %d, %d], \"site\": %lld, \"grid\": [%d, %d, %d, %d]}", sizes[0],
           sizes[1], sizes[2], sizes[3], (long long)l->site, l->grid[0], l->grid[1], l->grid[2],
           l->grid[3]);
  MPI_Type_free(&site);
  bench_pattern_t pattern = {
      .program = "lattice",
      .shape = shape,
      .filetype = block,
      .memtype = memory,
      .memory_bytes = sites * l->site,
      .file_bytes = lattice * l->site,
      .runs = l->own[0] * l->own[1] * l->own[2],
      .run_at = run_at,
      .context = l,
      .by_hand = &lattice_by_hand,
  };
  return bench_conclude(options, &pattern);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  lattice_t l = {.n = {16, 16, 16, 16}, .site = 144};
  MPI_Comm_rank(MPI_COMM_WORLD, &l.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &l.ranks);
  const bench_flag_t flags[] = {
      {"nt", &l.n[0], NULL, "sites, slowest dimension (16)"},
      {"nz", &l.n[1], NULL, "sites (16)"},
      {"ny", &l.n[2], NULL, "sites (16)"},
      {"nx", &l.n[3], NULL, "sites, fastest dimension (16)"},
      {"site", &l.site, NULL, "bytes of a site (144)"},
      {NULL, NULL, NULL, NULL},
  };
  bench_options_t options;
  bench_parse(argc, argv, flags, &options);
  for (int d = 0; d < kAxes; ++d)
    if (l.n[d] < 1 || l.n[d] > 1024)
      bench_refuse("--nt, --nz, --ny and --nx must be between 1 and 1024");
  if (l.site < 1 || l.site > 1 << 16) bench_refuse("--site must be between 1 byte and 64 KiB");
  cut(&l);
  return run(&options, &l);
}
