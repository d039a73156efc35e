// A parallel HDF5 file in C, in the layouts that applications use: contiguous and chunked, blocks,
// strides, points, a compound type, a rank with an empty selection. Usage: client_hdf5 FILE.
// Deterministic: two runs leave the same bytes. Prints a sum of what was read back per dataset;
// exit code 1 where HDF5 fails or a value is wrong.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double weight;
  int index;
  signed char flag;
} record_t;

typedef struct {
  const char* name;
  int chunked;
  hsize_t stride;  // of the hyperslab's blocks in the second dimension
  hsize_t block;
} layout_t;

static int g_rank, g_ranks;

static void check(long long code, const char* what) {
  if (code >= 0) return;
  fprintf(stderr, "client_hdf5: %s failed on rank %d\n", what, g_rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static hid_t collective(void) {
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  return transfer;
}

static hid_t make_dataset(hid_t file, const char* name, hid_t type, hid_t space,
                          const hsize_t* chunk) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(properties, 0), "H5Pset_obj_track_times");
  // Without it bytes that no rank selects may be anything.
  check(H5Pset_fill_time(properties, H5D_FILL_TIME_ALLOC), "H5Pset_fill_time");
  if (chunk) check(H5Pset_chunk(properties, 2, chunk), "H5Pset_chunk");
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  check(set, "H5Dcreate2");
  H5Pclose(properties);
  return set;
}

// Prints the sum over the ranks.
static void tell(const char* name, double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g_rank == 0) printf("%s %.3f\n", name, all);
}

// A matrix of which each rank writes every `stride`-th block of columns in its own rows, and reads
// those of the next rank. The last rank selects nothing.
static void matrix(hid_t file, const layout_t* layout) {
  const hsize_t rows = 9, columns = 60;
  const hsize_t whole[2] = {rows * (hsize_t)g_ranks, columns}, chunk[2] = {5, 17};
  const hid_t space = H5Screate_simple(2, whole, NULL);
  const hid_t set =
      make_dataset(file, layout->name, H5T_STD_I32LE, space, layout->chunked ? chunk : NULL);
  const hsize_t pieces = columns / layout->stride;
  const hsize_t stride[2] = {1, layout->stride}, count[2] = {1, pieces};
  const hsize_t block[2] = {rows, layout->block};
  hsize_t amount = rows * pieces * layout->block;
  const hid_t memory = H5Screate_simple(1, &amount, NULL), transfer = collective();
  int* data = malloc(amount * sizeof *data);
  double sum = 0;
  for (int phase = 0; phase < 2; ++phase) {
    const int owner = (g_rank + phase) % g_ranks, nothing = owner == g_ranks - 1;
    const hsize_t start[2] = {rows * (hsize_t)owner, 1};
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block), "hyperslab");
    check(H5Sselect_all(memory), "H5Sselect_all");
    if (nothing) {
      check(H5Sselect_none(space), "H5Sselect_none");
      check(H5Sselect_none(memory), "H5Sselect_none");
    }
    for (hsize_t i = 0; i < amount; ++i) data[i] = phase ? 0 : (int)i + 10000 * owner;
    if (phase)
      check(H5Dread(set, H5T_NATIVE_INT, memory, space, transfer, data), "H5Dread");
    else
      check(H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data), "H5Dwrite");
    MPI_Barrier(MPI_COMM_WORLD);
    for (hsize_t i = 0; phase && i < amount; ++i) {
      if (!nothing && data[i] != (int)i + 10000 * owner) check(-1, layout->name);
      sum += data[i];
    }
  }
  tell(layout->name, sum);
  free(data);
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(set);
}

// Records in memory with padding, at points dealt out to the ranks.
static void records(hid_t file) {
  enum { kEach = 25 };
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(record_t));
  check(H5Tinsert(type, "weight", HOFFSET(record_t, weight), H5T_NATIVE_DOUBLE), "H5Tinsert");
  check(H5Tinsert(type, "index", HOFFSET(record_t, index), H5T_NATIVE_INT), "H5Tinsert");
  check(H5Tinsert(type, "flag", HOFFSET(record_t, flag), H5T_NATIVE_SCHAR), "H5Tinsert");
  const hsize_t whole = (hsize_t)kEach * (hsize_t)g_ranks, own = kEach;
  const hid_t space = H5Screate_simple(1, &whole, NULL);
  const hid_t memory = H5Screate_simple(1, &own, NULL), transfer = collective();
  const hid_t set = make_dataset(file, "records", type, space, NULL);
  record_t data[kEach];
  hsize_t points[kEach];
  memset(data, 0, sizeof data);  // the padding goes into the file
  for (int i = 0; i < kEach; ++i) {
    data[i].weight = i + 0.25 * g_rank;
    data[i].index = i * g_ranks + g_rank;
    data[i].flag = (signed char)g_rank;
    points[i] = (hsize_t)(i * g_ranks + g_rank);
  }
  check(H5Sselect_elements(space, H5S_SELECT_SET, kEach, points), "H5Sselect_elements");
  check(H5Dwrite(set, type, memory, space, transfer, data), "H5Dwrite of records");
  record_t back[kEach];
  memset(back, 0, sizeof back);
  check(H5Dread(set, type, memory, space, transfer, back), "H5Dread of records");
  double sum = 0;
  for (int i = 0; i < kEach; ++i) {
    if (back[i].weight != data[i].weight || back[i].index != data[i].index) check(-1, "records");
    sum += back[i].weight + back[i].index + back[i].flag;
  }
  tell("records", sum);
  H5Dclose(set);
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  if (argc != 2) {
    if (g_rank == 0) fprintf(stderr, "usage: client_hdf5 FILE\n");
    MPI_Finalize();
    return 2;
  }
  static const layout_t layouts[] = {{"blocks", 0, 59, 58},
                                     {"strides", 0, 7, 3},
                                     {"chunks", 1, 59, 58},
                                     {"chunked strides", 1, 7, 3}};
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  check(file, "H5Fcreate");
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) matrix(file, &layouts[i]);
  records(file);
  H5Pclose(access);
  check(H5Fclose(file), "H5Fclose");
  MPI_Finalize();
  return 0;
}
