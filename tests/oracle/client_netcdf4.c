// A netCDF-4 file written in parallel: a time series of a 3-D field, contiguous and chunked, cut in
// two dimensions, one record after the other, and one compressed. Usage:
//
//   client_netcdf4 NX NY STEPS FILE        points of a rank's columns
//
// Deterministic; prints a sum per variable; exit code 1 where netCDF fails or a value is wrong.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { kDims = 3, kVariables = 3 };

static const char* const kNames[kVariables] = {"fixed", "chunked", "compressed"};
static int g_rank, g_ranks;

typedef struct {
  size_t steps, whole[2], start[2], own[2];  // y, x
} field_t;

static void check(int code, const char* what) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "client_netcdf4: %s on rank %d: %s\n", what, g_rank, nc_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void cut(field_t* field) {
  int grid[2] = {0, 0};
  MPI_Dims_create(g_ranks, 2, grid);
  const int at[2] = {g_rank / grid[1], g_rank % grid[1]};
  for (int d = 0; d < 2; ++d) {
    field->whole[d] = field->own[d] * (size_t)grid[d];
    field->start[d] = field->own[d] * (size_t)at[d];
  }
}

static double value_at(const field_t* field, int variable, size_t step, size_t y, size_t x) {
  return variable + 1e3 * (double)step +
         (double)((field->start[0] + y) * field->whole[1] + field->start[1] + x);
}

static int create(const char* path, const field_t* field, int* variables) {
  int file, axes[kDims];
  const size_t chunk[kDims] = {1, field->own[0] + 1, field->own[1] / 2 + 1};
  check(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file),
        "nc_create_par");
  check(nc_def_dim(file, "time", field->steps, &axes[0]), "nc_def_dim");
  check(nc_def_dim(file, "y", field->whole[0], &axes[1]), "nc_def_dim");
  check(nc_def_dim(file, "x", field->whole[1], &axes[2]), "nc_def_dim");
  for (int v = 0; v < kVariables; ++v) {
    check(nc_def_var(file, kNames[v], NC_DOUBLE, kDims, axes, &variables[v]), "nc_def_var");
    check(nc_def_var_chunking(file, variables[v], v ? NC_CHUNKED : NC_CONTIGUOUS, chunk),
          "nc_def_var_chunking");
    if (v == 2) check(nc_def_var_deflate(file, variables[v], 1, 1, 4), "nc_def_var_deflate");
  }
  check(nc_enddef(file), "nc_enddef");
  return file;
}

static void series(int file, int number, int variable, const field_t* field, int writing) {
  const size_t points = field->own[0] * field->own[1];
  double *data = calloc(points, sizeof *data), sum = 0, all = 0;
  check(nc_var_par_access(file, variable, NC_COLLECTIVE), "nc_var_par_access");
  for (size_t step = 0; step < field->steps; ++step) {
    const size_t start[kDims] = {step, field->start[0], field->start[1]};
    const size_t count[kDims] = {1, field->own[0], field->own[1]};
    for (size_t i = 0; i < points; ++i)
      data[i] = writing ? value_at(field, number, step, i / count[2], i % count[2]) : 0;
    check(writing ? nc_put_vara_double(file, variable, start, count, data)
                  : nc_get_vara_double(file, variable, start, count, data),
          kNames[number]);
    for (size_t i = 0; i < points; ++i) {
      if (data[i] != value_at(field, number, step, i / count[2], i % count[2]))
        check(NC_ERANGE, kNames[number]);
      sum += data[i];
    }
  }
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g_rank == 0 && !writing) printf("%s %.1f\n", kNames[number], all);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  if (argc != 5) {
    if (g_rank == 0) fprintf(stderr, "usage: client_netcdf4 NX NY STEPS FILE\n");
    MPI_Finalize();
    return 2;
  }
  field_t field = {.own = {(size_t)atoi(argv[2]), (size_t)atoi(argv[1])},
                   .steps = (size_t)atoi(argv[3])};
  cut(&field);
  int variables[kVariables], file = 0;
  for (int writing = 1; writing >= 0; --writing) {
    if (writing)
      file = create(argv[4], &field, variables);
    else
      check(nc_open_par(argv[4], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "nc_open_par");
    for (int v = 0; v < kVariables; ++v) series(file, v, variables[v], &field, writing);
    check(nc_close(file), "nc_close");
  }
  MPI_Finalize();
  return 0;
}
