// A parallel HDF5 write, as an application does it: a 2-D dataset of doubles, each rank one
// hyperslab, written and read back collectively. Prints one JSON line.
//
//   h5write FILE [rows|columns] [N]     N x N elements (1536), cut by rows or by columns (columns)
//
// Objects carry no times, so that two runs of the same job leave the same bytes. Errors: one line
// and exit code 2 for a bad argument, 1 where HDF5 fails or a value read back is wrong.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../timing.h"

typedef struct {
  hsize_t n;                   // rows and columns of the dataset
  hsize_t start[2], count[2];  // this rank's hyperslab
} slab_t;

static void fail(const char* what) {
  fprintf(stderr, "h5write: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(call, what)       \
  do {                          \
    if ((call) < 0) fail(what); \
  } while (0)

static double value_at(hsize_t row, hsize_t column) { return (double)row * 1e6 + (double)column; }

static hid_t open_file(const char* path, int writing) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  const hid_t file = writing ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                             : H5Fopen(path, H5F_ACC_RDONLY, access);
  CHECK(file, writing ? "H5Fcreate" : "H5Fopen");
  H5Pclose(access);
  return file;
}

// Writes or reads the rank's hyperslab; returns the seconds of the slowest rank for the transfer.
static double transfer(const char* path, const slab_t* slab, double* data, int writing) {
  const hid_t file = open_file(path, writing);
  const hsize_t whole[2] = {slab->n, slab->n};
  const hid_t space = H5Screate_simple(2, whole, NULL);
  const hid_t memory = H5Screate_simple(2, slab->count, NULL);
  hid_t set;
  if (writing) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_obj_track_times(properties, 0), "H5Pset_obj_track_times");
    set = H5Dcreate2(file, "field", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
  } else {
    set = H5Dopen2(file, "field", H5P_DEFAULT);
  }
  CHECK(set, "opening the dataset");
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, slab->start, NULL, slab->count, NULL),
        "H5Sselect_hyperslab");
  const hid_t collective = H5Pcreate(H5P_DATASET_XFER);
  CHECK(H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  const double begin = timing_begin(MPI_COMM_WORLD);
  if (writing)
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, collective, data), "H5Dwrite");
  else
    CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, collective, data), "H5Dread");
  const double seconds = timing_slowest(clock_now() - begin);
  H5Pclose(collective);
  H5Dclose(set);
  H5Sclose(memory);
  H5Sclose(space);
  CHECK(H5Fclose(file), "H5Fclose");
  return seconds;
}

static void fill(const slab_t* slab, double* data) {
  for (hsize_t i = 0; i < slab->count[0]; ++i)
    for (hsize_t j = 0; j < slab->count[1]; ++j)
      data[i * slab->count[1] + j] = value_at(slab->start[0] + i, slab->start[1] + j);
}

static long long wrong_values(const slab_t* slab, const double* data) {
  long long own = 0, all = 0;
  for (hsize_t i = 0; i < slab->count[0]; ++i)
    for (hsize_t j = 0; j < slab->count[1]; ++j)
      own += data[i * slab->count[1] + j] != value_at(slab->start[0] + i, slab->start[1] + j);
  MPI_Allreduce(&own, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static int run(const char* path, int columns, hsize_t n, int rank, int ranks) {
  slab_t slab = {.n = n, .start = {0, 0}, .count = {n, n}};
  slab.start[columns] = n * (hsize_t)rank / (hsize_t)ranks;
  slab.count[columns] = n * (hsize_t)(rank + 1) / (hsize_t)ranks - slab.start[columns];
  const size_t bytes = slab.count[0] * slab.count[1] * sizeof(double);
  double* data = malloc(bytes + 1);
  if (!data) fail("malloc");
  fill(&slab, data);
  const double write_s = transfer(path, &slab, data, 1);
  memset(data, 0, bytes);
  const double read_s = transfer(path, &slab, data, 0);
  const long long wrong = wrong_values(&slab, data);
  free(data);
  if (rank == 0) {
    printf(
        "{\"program\": \"h5write\", \"ranks\": %d, "
        "\"shape\": {\"n\": %llu, \"cut\": \"%s\"}, \"bytes\": %llu, \"verified\": true, "
        "\"results\": [{\"op\": \"write\", \"repetition\": 0, \"seconds\": %.6f, "
        "\"wrong_bytes\": 0}, {\"op\": \"read\", \"repetition\": 0, \"seconds\": %.6f, "
        "\"wrong_bytes\": %lld}]}\n",
        ranks, (unsigned long long)n, columns ? "columns" : "rows",
        (unsigned long long)(n * n * sizeof(double)), write_s, read_s,
        wrong * (long long)sizeof(double));
    fflush(stdout);
  }
  return wrong != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* cut = argc > 2 ? argv[2] : "columns";
  const long n = argc > 3 ? strtol(argv[3], NULL, 10) : 1536;
  int code = 2;
  if (argc < 2 || argc > 4 || (strcmp(cut, "rows") != 0 && strcmp(cut, "columns") != 0) ||
      n < ranks || n > 65536) {
    if (rank == 0)
      fprintf(stderr,
              "usage: h5write FILE [rows|columns] [N], N from the number of ranks to 65536\n");
  } else {
    code = run(argv[1], strcmp(cut, "columns") == 0, (hsize_t)n, rank, ranks);
  }
  MPI_Finalize();
  return code;
}
