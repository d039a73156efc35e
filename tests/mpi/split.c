/* split: split collectives, each pair of begin and end.
 *
 *   mpiexec -n N split FOLDER [WORDS OF A CHECK'S NAME]
 * Exit code 1 if a check failed; see check.h. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "check.h"

enum { kItems = 30 };

static void fill(int* values, int salt) {
  for (int i = 0; i < kItems; ++i) values[i] = salt * 100000 + rank * 1000 + i;
}

static void set_view(MPI_File file) {
  MPI_Datatype blocks;
  MPI_Type_vector(3, 2, 2 * ranks, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  MPI_Datatype tile;
  MPI_Type_create_resized(blocks, 0, (MPI_Aint)sizeof(int) * 6 * ranks, &tile);
  MPI_Type_commit(&tile);
  EXPECT_OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * 2 * rank, MPI_INT, tile, "native",
                              MPI_INFO_NULL));
  MPI_Type_free(&blocks);
  MPI_Type_free(&tile);
}

static void individual_pointer(void) {
  int data[kItems], back[kItems] = {0};
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(data, 1);
  EXPECT_OK(MPI_File_write_all_begin(file, data, kItems, MPI_INT));
  EXPECT_OK(MPI_File_write_all_end(file, data, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  EXPECT(position_of(file) == kItems, "the pointer is at %lld", position_of(file));
  sync_all(file);
  MPI_File_seek(file, 10, MPI_SEEK_SET);
  EXPECT_OK(MPI_File_read_all_begin(file, back, 20, MPI_INT));
  EXPECT_OK(MPI_File_read_all_end(file, back, &status));
  EXPECT(count_of(&status, MPI_INT) == 20, "count %d", count_of(&status, MPI_INT));
  EXPECT(position_of(file) == 30, "the pointer is at %lld", position_of(file));
  EXPECT(memcmp(data + 10, back, 20 * sizeof(int)) == 0, "other bytes were read");
  MPI_File_close(&file);
}

static void explicit_offset(void) {
  int data[kItems], back[kItems] = {0};
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(data, 2);
  EXPECT_OK(MPI_File_write_at_all_begin(file, 6, data, kItems, MPI_INT));
  EXPECT_OK(MPI_File_write_at_all_end(file, data, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  sync_all(file);
  EXPECT_OK(MPI_File_read_at_all_begin(file, 6, back, kItems, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  EXPECT(position_of(file) == 0, "the pointer is at %lld", position_of(file));
  MPI_File_close(&file);
}

/* One split collective may be outstanding on each handle, with independent accesses between. */
static void two_files_at_once(void) {
  int to_a[kItems], to_b[kItems], back[kItems], one = -1;
  char name_b[4200];
  MPI_Status status;
  MPI_File a = open_new(), b;
  snprintf(name_b, sizeof name_b, "%s.b", path);
  EXPECT_OK(MPI_File_open(MPI_COMM_WORLD, name_b,
                          MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                          &b));
  set_view(a);
  set_view(b);
  fill(to_a, 3);
  fill(to_b, 4);
  EXPECT_OK(MPI_File_write_all_begin(a, to_a, kItems, MPI_INT));
  EXPECT_OK(MPI_File_write_at_all_begin(b, 0, to_b, kItems, MPI_INT));
  EXPECT_OK(MPI_File_write_at_all_end(b, to_b, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_begin(b, 0, back, kItems, MPI_INT));
  EXPECT_OK(MPI_File_read_at(a, 0, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_File_write_all_end(a, to_a, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_end(b, back, MPI_STATUS_IGNORE));
  EXPECT(memcmp(to_b, back, sizeof back) == 0, "other bytes were read");
  MPI_File_close(&b);
  MPI_File_close(&a);
}

static void across_the_end(void) {
  int data[kItems], back[kItems];
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(data, 5);
  EXPECT_OK(MPI_File_write_all(file, data, 12, MPI_INT, MPI_STATUS_IGNORE));
  sync_all(file);
  memset(back, 0x55, sizeof back);
  EXPECT_OK(MPI_File_read_at_all_begin(file, 0, back, kItems, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_end(file, back, &status));
  EXPECT(count_of(&status, MPI_INT) == 12, "count %d", count_of(&status, MPI_INT));
  EXPECT(memcmp(data, back, 12 * sizeof(int)) == 0, "other bytes were read");
  EXPECT(back[12] == 0x55555555, "bytes that are not there were given");
  MPI_File_close(&file);
}

/* Every rank learns of it, at the end. */
static void a_failed_write(void) {
  int data[kItems];
  MPI_File file = open_new();
  set_view(file);
  fill(data, 6);
  struct rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 0;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &none);
  EXPECT_OK(MPI_File_write_all_begin(file, data, kItems, MPI_INT));
  setrlimit(RLIMIT_FSIZE, &before);
  const int code = MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
  EXPECT(class_of(code) == MPI_ERR_IO, "the error class is %d", class_of(code));
  MPI_File_close(&file);
}

/* The file is passed through: the library's own begin and end, on the library's own handle. */
static void passed_through(void) {
  int data[kItems], back[kItems] = {0};
  MPI_Status status;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "haichi_io", "off");
  MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  MPI_Info_free(&info);
  fill(data, 7);
  const MPI_Offset mine = (MPI_Offset)sizeof data * rank;
  EXPECT_OK(MPI_File_write_at_all_begin(file, mine, data, kItems, MPI_INT));
  EXPECT_OK(MPI_File_write_at_all_end(file, data, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  sync_all(file);
  EXPECT_OK(MPI_File_read_at_all_begin(file, mine, back, kItems, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  MPI_File_close(&file);
}

/* What the standard forbids is answered with an error, and what was begun can still be ended. */
static void wrong_calls(void) {
  int data[kItems], other[kItems];
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(data, 8);
  EXPECT(MPI_File_write_all_end(file, data, &status) != MPI_SUCCESS, "an end without a begin");
  EXPECT_OK(MPI_File_write_all_begin(file, data, kItems, MPI_INT));
  EXPECT(MPI_File_read_at_all_end(file, other, &status) != MPI_SUCCESS, "the end of another kind");
  EXPECT(MPI_File_read_all_begin(file, other, 1, MPI_INT) != MPI_SUCCESS, "a second begin");
  EXPECT_OK(MPI_File_write_all_end(file, data, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  MPI_File_close(&file);
}

static const Check checks[] = {
    {"individual pointer", individual_pointer},
    {"explicit offset", explicit_offset},
    {"two files at once", two_files_at_once},
    {"across the end", across_the_end},
    {"a failed write", a_failed_write},
    {"passed through", passed_through},
    {"wrong calls", wrong_calls},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
