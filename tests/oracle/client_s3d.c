// A checkpoint as S3D writes it: mass fractions of 11 species, temperature, pressure and three
// components of velocity on a grid cut block-block-block, each array a darray view of its own, one
// after the other in one file; then a restart that reads them. Usage:
//
//   client_s3d NX NY NZ FILE      grid points; they need not divide by the numbers of blocks
//
// Prints a sum per array; exit code 1 if a value is wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kDims = 4 };  // x, y, z and the component, x fastest as in Fortran

typedef struct {
  const char* name;
  int components;
} array_t;

typedef struct {
  int size[kDims - 1], blocks[kDims - 1];
  int start[kDims - 1], own[kDims - 1];  // this rank's block
} grid_t;

static const array_t kArrays[] = {{"yspecies", 11}, {"temp", 1}, {"pressure", 1}, {"u", 3}};

static int g_rank, g_ranks;

static void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "client_s3d: %s failed on rank %d\n", what, g_rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The standard's MPI_DISTRIBUTE_DFLT_DARG for a block distribution, with its rank order.
static void cut(grid_t* grid) {
  MPI_Dims_create(g_ranks, kDims - 1, grid->blocks);
  int rest = g_rank;
  for (int d = kDims - 2; d >= 0; --d) {
    const int at = rest % grid->blocks[d], n = grid->size[d];
    const int width = (n + grid->blocks[d] - 1) / grid->blocks[d];
    rest /= grid->blocks[d];
    grid->start[d] = at * width < n ? at * width : n;
    grid->own[d] = n - grid->start[d] < width ? n - grid->start[d] : width;
  }
}

static MPI_Datatype darray(const grid_t* grid, int components) {
  const int sizes[kDims] = {grid->size[0], grid->size[1], grid->size[2], components};
  const int blocks[kDims] = {grid->blocks[0], grid->blocks[1], grid->blocks[2], 1};
  const int how[kDims] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK,
                          MPI_DISTRIBUTE_NONE};
  const int widths[kDims] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                             MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type;
  check(MPI_Type_create_darray(g_ranks, g_rank, kDims, sizes, how, widths, blocks,
                               MPI_ORDER_FORTRAN, MPI_DOUBLE, &type),
        "MPI_Type_create_darray");
  MPI_Type_commit(&type);
  return type;
}

static void fill(const grid_t* grid, const array_t* array, double* data) {
  for (int c = 0; c < array->components; ++c)
    for (int z = 0; z < grid->own[2]; ++z)
      for (int y = 0; y < grid->own[1]; ++y)
        for (int x = 0; x < grid->own[0]; ++x)
          *data++ = c + 1e2 * (grid->start[0] + x) + 1e5 * (grid->start[1] + y) +
                    1e8 * (grid->start[2] + z) + array->components * 1e11;
}

// Writes all arrays, or reads them and checks; prints the sums of what was read.
static void checkpoint(const grid_t* grid, const char* path, int writing) {
  const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  const int points = grid->own[0] * grid->own[1] * grid->own[2];
  MPI_Offset begin = 0;
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file), "MPI_File_open");
  for (size_t a = 0; a < sizeof kArrays / sizeof kArrays[0]; ++a) {
    const array_t* array = &kArrays[a];
    const int count = points * array->components;
    double* data = calloc((size_t)count + 1, sizeof *data);
    double* expected = calloc((size_t)count + 1, sizeof *expected);
    MPI_Datatype view = darray(grid, array->components);
    MPI_Status status;
    int moved = 0;
    double sum = 0, all = 0;
    fill(grid, array, expected);
    check(MPI_File_set_view(file, begin, MPI_DOUBLE, view, "native", MPI_INFO_NULL), "set_view");
    check(writing ? MPI_File_write_all(file, expected, count, MPI_DOUBLE, &status)
                  : MPI_File_read_all(file, data, count, MPI_DOUBLE, &status),
          writing ? "MPI_File_write_all" : "MPI_File_read_all");
    MPI_Get_count(&status, MPI_DOUBLE, &moved);
    for (int i = 0; !writing && i < count; ++i) {
      if (data[i] != expected[i]) check(-1, array->name);
      sum += data[i];
    }
    if (moved != count) check(-1, "the count");
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (g_rank == 0 && !writing) printf("%s %.0f\n", array->name, all);
    begin += (MPI_Offset)sizeof(double) * grid->size[0] * grid->size[1] * grid->size[2] *
             array->components;
    MPI_Type_free(&view);
    free(data);
    free(expected);
  }
  check(MPI_File_close(&file), "MPI_File_close");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  if (argc != 5) {
    if (g_rank == 0) fprintf(stderr, "usage: client_s3d NX NY NZ FILE\n");
    MPI_Finalize();
    return 2;
  }
  grid_t grid = {.size = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3])}};
  cut(&grid);
  checkpoint(&grid, argv[4], 1);
  checkpoint(&grid, argv[4], 0);
  MPI_Finalize();
  return 0;
}
