/* What the programs of this folder share: checks by name, on all ranks of MPI_COMM_WORLD.
 *
 * Every rank runs every check; the first thing that it finds wrong is printed with its rank. Rank 0
 * prints "ok NAME" where no rank found anything, and "FAILED NAME" elsewhere. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static const char* folder;
static char path[4096];
static char problem[256];

#define EXPECT(right, ...)                                               \
  do {                                                                   \
    if (!(right) && !problem[0]) {                                       \
      int at = snprintf(problem, sizeof problem, "line %d: ", __LINE__); \
      snprintf(problem + at, sizeof problem - at, __VA_ARGS__);          \
    }                                                                    \
  } while (0)

#define EXPECT_OK(call) EXPECT((call) == MPI_SUCCESS, "%s failed", #call)

typedef struct {
  const char* name;
  void (*run)(void);
} Check;

static inline int count_of(MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(status, type, &count);
  return count;
}

static inline int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static inline long long position_of(MPI_File file) {
  MPI_Offset position = -1;
  MPI_File_get_position(file, &position);
  return position;
}

static inline MPI_File open_as(int amode, MPI_Info info) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &file));
  return file;
}

static inline MPI_File open_new(void) {
  return open_as(MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
}

/* What orders accesses of several ranks in nonatomic mode (MPI 4.1, 14.6.1). */
static inline void sync_all(MPI_File file) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

/* Ints of the file by POSIX; those beyond its end are -1. */
static inline void look(const char* name, int* values, int count) {
  memset(values, 0xff, (size_t)count * sizeof *values);
  FILE* file = fopen(name, "rb");
  EXPECT(file != NULL, "no file %s", name);
  if (!file) return;
  if (fread(values, sizeof *values, (size_t)count, file) == 0) EXPECT(count == 0, "an empty file");
  fclose(file);
}

static inline int run_checks(int argc, char** argv, const Check* checks, int count) {
  int failed = 0;
  if (argc < 2) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  folder = argv[1];
  for (int i = 0; i < count; ++i) {
    if (argc > 2 && !strstr(checks[i].name, argv[2])) continue;
    snprintf(path, sizeof path, "%s/check.dat", folder);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    problem[0] = 0;
    checks[i].run();
    int good = !problem[0], all = 0;
    if (!good) fprintf(stderr, "rank %d, %s, %s\n", rank, checks[i].name, problem);
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("%s %s\n", all ? "ok" : "FAILED", checks[i].name);
    failed += !all;
  }
  return failed != 0;
}
