/* frugal: files opened and closed again and again, and many open at once, by all kinds of access.
 *
 *   mpiexec -n N frugal FOLDER [cycles=300]
 * Exit code 1 if a check failed, and if a descriptor, a communicator or a window is left after
 * close; see check.h. MPICH has 2,048 communicators at most, so many cycles would end the run too.
 * Rank 0 prints "grown N": bytes by which the largest rank's memory grew over the cycles. */
#include <dirent.h>
#include <stdlib.h>

#include "check.h"

enum { kItems = 16, kOpen = 200 };

static int cycles = 300;

static int descriptors(void) {
  int count = 0;
  DIR* open = opendir("/proc/self/fd");
  while (readdir(open)) ++count;
  closedir(open);
  return count;
}

static long resident(void) {
  long pages = 0;
  FILE* statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*d %ld", &pages) != 1) pages = -1;
  if (statm) fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

/* The numbers that the next communicator and the next window get: those of Open MPI are the lowest
 * free ones. MPICH's say nothing. */
typedef struct {
  int comm, win;
} Next;

static Next next_handles(void) {
  Next next = {0, 0};
#if defined(OPEN_MPI)
  MPI_Comm comm;
  MPI_Win win;
  void* memory;
  EXPECT_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  EXPECT_OK(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  next = (Next){(int)MPI_Comm_c2f(comm), (int)MPI_Win_c2f(win)};
  EXPECT_OK(MPI_Win_free(&win));
  EXPECT_OK(MPI_Comm_free(&comm));
#endif
  return next;
}

static void fill(int* values, int salt) {
  for (int i = 0; i < kItems; ++i) values[i] = salt * 1000 + rank * 100 + i;
}

static MPI_Comm twin; /* of MPI_COMM_WORLD */

/* One open by this rank alone. */
static void cycle_alone(int number) {
  char own[sizeof path + 16];
  int data[kItems];
  MPI_File file;
  snprintf(own, sizeof own, "%s.%d", path, rank);
  fill(data, number);
  EXPECT_OK(
      MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  EXPECT_OK(MPI_File_write_at_all(file, 0, data, kItems, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_File_close(&file));
}

/* One open, some accesses, one close. */
static void cycle(int number) {
  if (number % 16 == 15) {
    cycle_alone(number);
    return;
  }
  int data[kItems], back[kItems];
  const MPI_Offset mine = rank * (MPI_Offset)sizeof data;
  MPI_Request request;
  MPI_File file = MPI_FILE_NULL;
  EXPECT_OK(MPI_File_open(number % 2 ? twin : MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                          MPI_INFO_NULL, &file));
  fill(data, number);
  EXPECT_OK(MPI_File_write_at_all(file, mine, data, kItems, MPI_INT, MPI_STATUS_IGNORE));
  if (number % 8 == 0) {
    EXPECT_OK(MPI_File_iwrite_at_all(file, mine, data, kItems, MPI_INT, &request));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT_OK(MPI_File_read_at_all_begin(file, mine, back, kItems, MPI_INT));
    EXPECT_OK(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
    EXPECT(memcmp(data, back, sizeof data) == 0, "cycle %d read other bytes", number);
  }
  EXPECT_OK(MPI_File_close(&file));
}

static void opened_and_closed_often(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  /* Records for the report are bounded: many cycles start when they are full. */
  for (int i = 0; i < 100 || (i < 300 && i < cycles); ++i) cycle(i);
  const int before = descriptors();
  const Next next = next_handles();
  const long memory = resident();
  for (int i = 0; i < cycles && !problem[0]; ++i) cycle(i);
  long grown = resident() - memory, most = 0;
  EXPECT(descriptors() == before, "%d descriptors were %d before", descriptors(), before);
  const Next now = next_handles();
  EXPECT(now.comm == next.comm, "the next communicator is %d and was %d", now.comm, next.comm);
  EXPECT(now.win == next.win, "the next window is %d and was %d", now.win, next.win);
  MPI_Reduce(&grown, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("grown %ld\n", most);
  MPI_Comm_free(&twin);
}

static void many_open_at_once(void) {
  static MPI_File files[kOpen];
  const size_t length = strlen(path);
  int data[kItems], back[kItems];
  const MPI_Offset mine = rank * (MPI_Offset)sizeof data;
  const int before = descriptors();
  for (int i = 0; i < kOpen; ++i) {
    snprintf(path + length, sizeof path - length, ".%d", i);
    files[i] = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL);
    fill(data, i);
    EXPECT_OK(MPI_File_write_at_all(files[i], mine, data, kItems, MPI_INT, MPI_STATUS_IGNORE));
  }
  path[length] = 0;
  for (int i = kOpen; i-- > 0;) {
    fill(data, i);
    EXPECT_OK(MPI_File_read_at_all(files[i], mine, back, kItems, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(memcmp(data, back, sizeof data) == 0, "file %d has other bytes", i);
    EXPECT_OK(MPI_File_close(&files[i]));
  }
  EXPECT(descriptors() == before, "%d descriptors were %d before", descriptors(), before);
}

static const Check checks[] = {
    {"opened and closed often", opened_and_closed_often},
    {"many open at once", many_open_at_once},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 2) cycles = atoi(argv[2]);
  const int failed = run_checks(2, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
