/* frugal: files opened and closed again and again, and many open at once, by all kinds of access.
 *
 *   mpiexec -n N frugal FOLDER [cycles=300]
 * Exit code 1 if a check failed, and if a descriptor is left after close; see check.h. A
 * communicator that was left would end the run too: MPI libraries have some thousand at most. */
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

static void fill(int* values, int salt) {
  for (int i = 0; i < kItems; ++i) values[i] = salt * 1000 + rank * 100 + i;
}

/* One open, some accesses, one close. */
static void cycle(int number) {
  int data[kItems], back[kItems];
  const MPI_Offset mine = rank * (MPI_Offset)sizeof data;
  MPI_Request request;
  MPI_File file = open_new();
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
  for (int i = 0; i < 10; ++i) cycle(i);
  const int before = descriptors();
  for (int i = 0; i < cycles && !problem[0]; ++i) cycle(i);
  EXPECT(descriptors() == before, "%d descriptors were %d before", descriptors(), before);
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
