// A checkpoint as FLASH writes it through HDF5: 24 unknowns of blocks with guard cells. In memory a
// block is unk(variable, i, j, k) with the variables fastest and GUARD cells on each side; in the
// file each variable is a dataset of its own, [block][k][j][i], without guard cells. Then a plot
// file's part, four variables in single precision, and a restart. Usage:
//
//   client_flash BLOCKS CELLS GUARD FILE      blocks of a rank; cells of a block along each side
//
// Rank r has BLOCKS + r % 2 blocks, as adaptive refinement leaves it. Deterministic; prints a sum
// per part; exit code 1 where HDF5 fails or a value is wrong.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

enum { kVariables = 24, kPlotted = 4, kFileDims = 4, kMemoryDims = 5 };

typedef struct {
  hsize_t blocks, first, all;  // of this rank, before it, and of all ranks
  hsize_t cells, guard, side;  // side: cells with both guards
} mesh_t;

static int g_rank, g_ranks;

static void check(long long code, const char* what) {
  if (code >= 0) return;
  fprintf(stderr, "client_flash: %s failed on rank %d\n", what, g_rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static size_t unknowns(const mesh_t* mesh) {
  return (size_t)(mesh->blocks * mesh->side * mesh->side * mesh->side) * kVariables;
}

// -1 in the guard cells, which must never be in a file.
static double unknown(const mesh_t* mesh, size_t index) {
  const size_t variable = index % kVariables;
  size_t rest = index / kVariables, place = 0, scale = 1;
  for (int d = 0; d < 3; ++d, rest /= mesh->side, scale *= 100) {
    const size_t at = rest % mesh->side;
    if (at < mesh->guard || at >= mesh->guard + mesh->cells) return -1;
    place += scale * at;
  }
  return (double)(place + scale * (mesh->first + rest)) + 0.01 * (double)variable;
}

// The dataset's part of this rank, and where one variable lies in memory.
static void select_own(const mesh_t* mesh, hsize_t variable, hid_t space, hid_t memory) {
  const hsize_t start[kFileDims] = {mesh->first, 0, 0, 0};
  const hsize_t count[kFileDims] = {mesh->blocks, mesh->cells, mesh->cells, mesh->cells};
  const hsize_t g = mesh->guard, inside[kMemoryDims] = {0, g, g, g, variable};
  const hsize_t one[kMemoryDims] = {mesh->blocks, mesh->cells, mesh->cells, mesh->cells, 1};
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "file selection");
  check(H5Sselect_hyperslab(memory, H5S_SELECT_SET, inside, NULL, one, NULL), "memory selection");
}

static hid_t dataset(hid_t file, const char* name, hid_t type, hid_t space) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(properties, 0), "H5Pset_obj_track_times");
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  check(set, "H5Dcreate2");
  H5Pclose(properties);
  return set;
}

// Writes or reads the first `variables` of `data` as `type`, one dataset each.
static void move(const mesh_t* mesh, hid_t file, const char* prefix, int variables, hid_t type,
                 void* data, int writing) {
  const hsize_t whole[kFileDims] = {mesh->all, mesh->cells, mesh->cells, mesh->cells};
  const hsize_t held[kMemoryDims] = {mesh->blocks, mesh->side, mesh->side, mesh->side, kVariables};
  const hid_t space = H5Screate_simple(kFileDims, whole, NULL);
  const hid_t memory = H5Screate_simple(kMemoryDims, held, NULL);
  const hid_t collective = H5Pcreate(H5P_DATASET_XFER);
  check(H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
  for (int v = 0; v < variables; ++v) {
    char name[32];
    snprintf(name, sizeof name, "%s%02d", prefix, v);
    const hid_t set =
        writing ? dataset(file, name, type, space) : H5Dopen2(file, name, H5P_DEFAULT);
    check(set, name);
    select_own(mesh, (hsize_t)v, space, memory);
    check(writing ? H5Dwrite(set, type, memory, space, collective, data)
                  : H5Dread(set, type, memory, space, collective, data),
          name);
    H5Dclose(set);
  }
  H5Pclose(collective);
  H5Sclose(memory);
  H5Sclose(space);
}

static hid_t open_file(const char* path, int writing) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
  const hid_t file = writing ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                             : H5Fopen(path, H5F_ACC_RDONLY, access);
  check(file, path);
  H5Pclose(access);
  return file;
}

static void tell(const char* name, double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g_rank == 0) printf("%s %.2f\n", name, all);
}

static void write_all(const mesh_t* mesh, const char* path) {
  const size_t n = unknowns(mesh);
  double* unk = malloc((n + 1) * sizeof *unk);
  float* plot = malloc((n + 1) * sizeof *plot);
  for (size_t i = 0; i < n; ++i) {
    unk[i] = unknown(mesh, i);
    plot[i] = (float)unk[i];
  }
  const hid_t file = open_file(path, 1);
  move(mesh, file, "unk", kVariables, H5T_NATIVE_DOUBLE, unk, 1);
  move(mesh, file, "plot", kPlotted, H5T_NATIVE_FLOAT, plot, 1);
  check(H5Fclose(file), "H5Fclose");
  free(unk);
  free(plot);
}

static void restart(const mesh_t* mesh, const char* path) {
  const size_t n = unknowns(mesh);
  double sum = 0, plotted = 0;
  double* unk = malloc((n + 1) * sizeof *unk);
  float* plot = malloc((n + 1) * sizeof *plot);
  for (size_t i = 0; i < n; ++i) plot[i] = (float)(unk[i] = -1);
  const hid_t file = open_file(path, 0);
  move(mesh, file, "unk", kVariables, H5T_NATIVE_DOUBLE, unk, 0);
  move(mesh, file, "plot", kPlotted, H5T_NATIVE_FLOAT, plot, 0);
  check(H5Fclose(file), "H5Fclose");
  for (size_t i = 0; i < n; ++i) {
    const double expected = unknown(mesh, i);
    if (unk[i] != expected) check(-1, "the check of a checkpoint's value");
    if (plot[i] != (i % kVariables < kPlotted ? (float)expected : -1.0f))
      check(-1, "the check of a plot file's value");
    sum += unk[i];
    plotted += plot[i];
  }
  tell("checkpoint", sum);
  tell("plot file", plotted);
  free(unk);
  free(plot);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
  if (argc != 5) {
    if (g_rank == 0) fprintf(stderr, "usage: client_flash BLOCKS CELLS GUARD FILE\n");
    MPI_Finalize();
    return 2;
  }
  mesh_t mesh = {.cells = (hsize_t)atoi(argv[2]), .guard = (hsize_t)atoi(argv[3])};
  mesh.side = mesh.cells + 2 * mesh.guard;
  for (int rank = 0; rank < g_ranks; ++rank) {
    const hsize_t blocks = (hsize_t)(atoi(argv[1]) + rank % 2);
    if (rank < g_rank) mesh.first += blocks;
    if (rank == g_rank) mesh.blocks = blocks;
    mesh.all += blocks;
  }
  write_all(&mesh, argv[4]);
  restart(&mesh, argv[4]);
  MPI_Finalize();
  return 0;
}
