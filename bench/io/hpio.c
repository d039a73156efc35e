// HPIO's access pattern (A. Ching et al., IPDPS 2006) as paper 000, section 4.2 uses it.
//
// Each rank has `count` regions of `size` bytes.
//   noncontiguous in the file: region i of rank r begins at (i*P + r) * (size + space): the ranks
//                              take turns, and `space` bytes after each region belong to nobody
//   contiguous in the file:    region i of rank r begins at (r*count + i) * size
//   noncontiguous in memory:   regions lie size + space apart; contiguous: one after the other
// The paper's case is --region-size 3744 --region-space 256 --region-count 48000, 768 ranks.
#include <stdio.h>
#include <stdlib.h>

#include "io_bench.h"

enum { kContiguous, kNoncontiguous };

typedef struct {
  int64_t size, space, count;
  int memory, file;
  int rank, ranks;
} hpio_t;

static bench_run_t run_at(const void* context, int64_t k) {
  const hpio_t* p = context;
  const int64_t stride = p->size + p->space;
  return (bench_run_t){
      .memory = k * (p->memory == kContiguous ? p->size : stride),
      .file = p->file == kContiguous ? (p->rank * p->count + k) * p->size
                                     : (k * p->ranks + p->rank) * stride,
      .size = p->size,
  };
}

// `count` regions of `size` bytes, `stride` bytes apart.
static MPI_Datatype regions(int64_t count, int64_t size, int64_t stride) {
  MPI_Datatype region, type;
  MPI_Type_contiguous((int)size, MPI_BYTE, &region);
  bench_check(MPI_Type_create_hvector((int)count, 1, (MPI_Aint)stride, region, &type),
              "MPI_Type_create_hvector");
  MPI_Type_commit(&type);
  MPI_Type_free(&region);
  return type;
}

static void check(const hpio_t* p) {
  if (p->size < 1 || p->count < 1)
    bench_refuse("--region-size and --region-count must be at least 1");
  if (p->size > INT32_MAX || p->count > INT32_MAX || p->space > INT32_MAX ||
      p->count > INT64_MAX / 4 / p->ranks / (p->size + p->space))
    bench_refuse("the file would be too large: make --region-count or --region-size smaller");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  hpio_t p = {
      .size = 3744, .space = 256, .count = 1500, .memory = kNoncontiguous, .file = kNoncontiguous};
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  const bench_flag_t flags[] = {
      {"region-size", &p.size, NULL, "bytes of a region (3744)"},
      {"region-space", &p.space, NULL, "bytes between two regions (256)"},
      {"region-count", &p.count, NULL, "regions of a rank (1500)"},
      {"memory", &p.memory, "contiguous|noncontiguous", "regions in memory (noncontiguous)"},
      {"layout", &p.file, "contiguous|noncontiguous", "regions in the file (noncontiguous)"},
      {NULL, NULL, NULL, NULL},
  };
  bench_options_t options;
  bench_parse(argc, argv, flags, &options);
  check(&p);

  const int64_t stride = p.size + p.space;
  char shape[256];
  snprintf(shape, sizeof shape,
           "{\"region_size\": %lld, \"region_space\": %lld, \"region_count\": %lld, "
           "\"memory\": \"%s\", \"layout\": \"%s\"}",
           (long long)p.size, (long long)p.space, (long long)p.count,
           p.memory == kContiguous ? "contiguous" : "noncontiguous",
           p.file == kContiguous ? "contiguous" : "noncontiguous");
  const int64_t last = p.file == kContiguous ? p.ranks * p.count * p.size
                                             : (p.count * p.ranks - 1) * stride + p.size;
  bench_pattern_t pattern = {
      .program = "hpio",
      .shape = shape,
      .displacement = p.file == kContiguous ? p.rank * p.count * p.size : p.rank * stride,
      .filetype = regions(p.count, p.size, p.file == kContiguous ? p.size : stride * p.ranks),
      .memtype = regions(p.count, p.size, p.memory == kContiguous ? p.size : stride),
      .memory_bytes = p.memory == kContiguous ? p.count * p.size : p.count * stride,
      .file_bytes = last,
      .runs = p.count,
      .run_at = run_at,
      .context = &p,
  };
  return bench_conclude(&options, &pattern);
}
