// A PnetCDF file as climate and combustion codes write it: a 3-D field by put_vara from memory with
// a frame, a field by put_varm that is transposed in memory, a strided field, a record variable by
// nonblocking puts and one wait_all. Usage: client_pnetcdf NX NY NZ FILE (points of a rank's
// block). Deterministic; prints a sum per variable; exit code 1 where PnetCDF fails or a value is
// wrong.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { kDims = 3, kFrame = 2, kRecords = 3 };

typedef struct {
  MPI_Offset whole[kDims], start[kDims], own[kDims];  // z, y, x; x is fastest
  MPI_Offset points;                                  // of the rank's block
} block_t;

static int g_rank, g_ranks;

static void check(int code, const char* what) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "client_pnetcdf: %s on rank %d: %s\n", what, g_rank, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_value(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "client_pnetcdf: wrong value of %s on rank %d\n", what, g_rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void cut(block_t* block, char** points) {
  int grid[kDims] = {0, 0, 0};
  MPI_Dims_create(g_ranks, kDims, grid);
  const int at[kDims] = {g_rank / (grid[1] * grid[2]), g_rank / grid[2] % grid[1],
                         g_rank % grid[2]};
  block->points = 1;
  for (int d = 0; d < kDims; ++d) {
    block->own[d] = atoi(points[kDims - 1 - d]);
    block->whole[d] = block->own[d] * grid[d];
    block->start[d] = block->own[d] * at[d];
    block->points *= block->own[d];
  }
}

static double value_at(const block_t* block, MPI_Offset z, MPI_Offset y, MPI_Offset x) {
  return (double)(((block->start[0] + z) * block->whole[1] + block->start[1] + y) *
                      block->whole[2] +
                  block->start[2] + x);
}

static void tell(const char* name, double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g_rank == 0) printf("%s %.1f\n", name, all);
}

// Memory with a frame around the block: the flexible interface takes its MPI datatype.
static void framed(int file, int variable, const block_t* block, int writing) {
  int sizes[kDims], own[kDims], starts[kDims] = {kFrame, kFrame, kFrame};
  size_t length = 1, index = 0;
  double sum = 0;
  for (int d = 0; d < kDims; ++d) {
    own[d] = (int)block->own[d];
    sizes[d] = own[d] + 2 * kFrame;
    length *= (size_t)sizes[d];
  }
  MPI_Datatype inner;
  MPI_Type_create_subarray(kDims, sizes, own, starts, MPI_ORDER_C, MPI_DOUBLE, &inner);
  MPI_Type_commit(&inner);
  double* expected = malloc(length * sizeof *expected);
  double* data = malloc(length * sizeof *data);
  for (int z = -kFrame; z < own[0] + kFrame; ++z)
    for (int y = -kFrame; y < own[1] + kFrame; ++y)
      for (int x = -kFrame; x < own[2] + kFrame; ++x, ++index) {
        const int inside = z >= 0 && z < own[0] && y >= 0 && y < own[1] && x >= 0 && x < own[2];
        expected[index] = inside ? value_at(block, z, y, x) : -1;
        data[index] = -1;
      }
  if (writing)
    check(ncmpi_put_vara_all(file, variable, block->start, block->own, expected, 1, inner),
          "put_vara_all");
  else
    check(ncmpi_get_vara_all(file, variable, block->start, block->own, data, 1, inner),
          "get_vara_all");
  for (size_t i = 0; !writing && i < length; ++i) {
    check_value(data[i] == expected[i], "the framed field");
    sum += data[i];
  }
  if (!writing) tell("framed", sum);
  MPI_Type_free(&inner);
  free(expected);
  free(data);
}

// In memory x and z change places.
static void transposed(int file, int variable, const block_t* block, int writing) {
  const MPI_Offset *own = block->own, imap[kDims] = {1, own[0], own[0] * own[1]};
  const MPI_Offset every[kDims] = {1, 1, 1};
  int* data = calloc((size_t)block->points, sizeof *data);
  double sum = 0;
  for (MPI_Offset z = 0; writing && z < own[0]; ++z)
    for (MPI_Offset y = 0; y < own[1]; ++y)
      for (MPI_Offset x = 0; x < own[2]; ++x)
        data[z + y * imap[1] + x * imap[2]] = (int)value_at(block, z, y, x);
  check(writing ? ncmpi_put_varm_int_all(file, variable, block->start, own, every, imap, data)
                : ncmpi_get_varm_int_all(file, variable, block->start, own, every, imap, data),
        "varm_int_all");
  for (MPI_Offset z = 0; z < own[0]; ++z)
    for (MPI_Offset y = 0; y < own[1]; ++y)
      for (MPI_Offset x = 0; x < own[2]; ++x) {
        const int value = data[z + y * imap[1] + x * imap[2]];
        check_value(value == (int)value_at(block, z, y, x), "the transposed field");
        sum += value;
      }
  if (!writing) tell("transposed", sum);
  free(data);
}

// Ranks take turns along x, so that each has every P-th point.
static void strided(int file, int variable, const block_t* block, int writing) {
  const MPI_Offset start[2] = {0, g_rank}, count[2] = {block->own[1], block->own[2]};
  const MPI_Offset stride[2] = {1, g_ranks};
  const MPI_Offset points = count[0] * count[1];
  float* data = calloc((size_t)points, sizeof *data);
  double sum = 0;
  for (MPI_Offset i = 0; writing && i < points; ++i) data[i] = (float)(i * g_ranks + g_rank);
  check(writing ? ncmpi_put_vars_float_all(file, variable, start, count, stride, data)
                : ncmpi_get_vars_float_all(file, variable, start, count, stride, data),
        "vars_float_all");
  for (MPI_Offset i = 0; i < points; ++i) {
    check_value(data[i] == (float)(i * g_ranks + g_rank), "the strided field");
    sum += data[i];
  }
  if (!writing) tell("strided", sum);
  free(data);
}

// All records at once: nonblocking calls that one collective wait carries out.
static void records(int file, int variable, const block_t* block, int writing) {
  const MPI_Offset points = block->own[2];
  double* data = calloc((size_t)(kRecords * points), sizeof *data);
  int requests[kRecords], states[kRecords];
  double sum = 0;
  for (int record = 0; record < kRecords; ++record) {
    const MPI_Offset start[2] = {record, g_rank * points}, count[2] = {1, points};
    double* own = data + record * points;
    for (MPI_Offset i = 0; writing && i < points; ++i)
      own[i] = record + 0.25 * (double)(start[1] + i);
    check(writing ? ncmpi_iput_vara_double(file, variable, start, count, own, &requests[record])
                  : ncmpi_iget_vara_double(file, variable, start, count, own, &requests[record]),
          "vara_double");
  }
  check(ncmpi_wait_all(file, kRecords, requests, states), "wait_all");
  for (int record = 0; record < kRecords; ++record) {
    check(states[record], "a record");
    for (MPI_Offset i = 0; i < points; ++i) {
      const double value = data[record * points + i];
      check_value(value == record + 0.25 * (double)(g_rank * points + i), "a record");
      sum += value;
    }
  }
  if (!writing) tell("records", sum);
  free(data);
}

static int create(const char* path, const block_t* block, int* variables) {
  int file, axes[kDims], turns, time, line;
  check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
        "create");
  check(ncmpi_def_dim(file, "z", block->whole[0], &axes[0]), "def_dim");
  check(ncmpi_def_dim(file, "y", block->whole[1], &axes[1]), "def_dim");
  check(ncmpi_def_dim(file, "x", block->whole[2], &axes[2]), "def_dim");
  check(ncmpi_def_dim(file, "rows", block->own[1], &line), "def_dim");
  check(ncmpi_def_dim(file, "turns", block->own[2] * g_ranks, &turns), "def_dim");
  check(ncmpi_def_dim(file, "time", NC_UNLIMITED, &time), "def_dim");
  const int plane[2] = {line, turns}, series[2] = {time, turns};
  check(ncmpi_def_var(file, "framed", NC_DOUBLE, kDims, axes, &variables[0]), "def_var");
  check(ncmpi_def_var(file, "transposed", NC_INT, kDims, axes, &variables[1]), "def_var");
  check(ncmpi_def_var(file, "strided", NC_FLOAT, 2, plane, &variables[2]), "def_var");
  check(ncmpi_def_var(file, "records", NC_DOUBLE, 2, series, &variables[3]), "def_var");
  check(ncmpi_put_att_text(file, NC_GLOBAL, "title", 4, "test"), "put_att");
  check(ncmpi_enddef(file), "enddef");
  return file;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  if (argc != 5) {
    if (g_rank == 0) fprintf(stderr, "usage: client_pnetcdf NX NY NZ FILE\n");
    MPI_Finalize();
    return 2;
  }
  block_t block;
  cut(&block, argv + 1);
  int variables[4], file = 0;
  for (int writing = 1; writing >= 0; --writing) {
    if (writing)
      file = create(argv[4], &block, variables);
    else
      check(ncmpi_open(MPI_COMM_WORLD, argv[4], NC_NOWRITE, MPI_INFO_NULL, &file), "open");
    framed(file, variables[0], &block, writing);
    transposed(file, variables[1], &block, writing);
    strided(file, variables[2], &block, writing);
    records(file, variables[3], &block, writing);
    check(ncmpi_close(file), "close");
  }
  MPI_Finalize();
  return 0;
}
