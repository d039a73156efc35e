/* ordered: accesses at the shared file pointer, all ranks together and each on its own.
 *
 *   mpiexec -n N ordered FOLDER [WORDS OF A CHECK'S NAME]
 * Exit code 1 if a check failed; see check.h. */
#include <stdlib.h>

#include "check.h"

enum { kMost = 400 };

/* Every rank has the same view, as the shared pointer wants it: two ints of every three. */
static void set_view(MPI_File file) {
  MPI_Datatype pair, tile;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 3 * (MPI_Aint)sizeof(int), &tile);
  MPI_Type_commit(&tile);
  EXPECT_OK(MPI_File_set_view(file, 4, MPI_INT, tile, "native", MPI_INFO_NULL));
  MPI_Type_free(&pair);
  MPI_Type_free(&tile);
}

static long long shared_position(MPI_File file) {
  MPI_Offset position = -1;
  EXPECT_OK(MPI_File_get_position_shared(file, &position));
  return position;
}

/* How many items a rank has in a round; some have none. */
static int share_of(int r, int round) { return (r * 7 + round * 5) % 11; }

static int before(int r, int round) {
  int sum = 0;
  for (int i = 0; i < r; ++i) sum += share_of(i, round);
  return sum;
}

static void fill(int* values, int first, int count) {
  for (int i = 0; i < count; ++i) values[i] = 1000 + first + i;
}

/* Etypes [0, count) of the view hold 1000, 1001, ... */
static void expect_content(MPI_File file, int count) {
  int values[kMost];
  MPI_Status status;
  EXPECT_OK(MPI_File_read_at(file, 0, values, count, MPI_INT, &status));
  EXPECT(count_of(&status, MPI_INT) == count, "%d of %d ints", count_of(&status, MPI_INT), count);
  for (int i = 0; i < count; ++i) EXPECT(values[i] == 1000 + i, "etype %d is %d", i, values[i]);
}

static void writes_follow_each_other(void) {
  int values[kMost], at = 0;
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  for (int round = 0; round < 6; ++round) {
    const int mine = share_of(rank, round);
    fill(values, at + before(rank, round), mine);
    if (round % 2) {
      EXPECT_OK(MPI_File_write_ordered_begin(file, values, mine, MPI_INT));
      EXPECT_OK(MPI_File_write_ordered_end(file, values, &status));
    } else {
      EXPECT_OK(MPI_File_write_ordered(file, values, mine, MPI_INT, &status));
    }
    EXPECT(count_of(&status, MPI_INT) == mine, "count %d", count_of(&status, MPI_INT));
    at += before(ranks, round);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(shared_position(file) == at, "the shared pointer is at %lld and not at %d",
           shared_position(file), at);
    EXPECT(position_of(file) == 0, "the individual pointer is at %lld", position_of(file));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  sync_all(file);
  expect_content(file, at);
  MPI_File_close(&file);
}

static void reads_follow_each_other(void) {
  int values[kMost], at = 3;
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(values, 0, kMost);
  if (rank == 0) EXPECT_OK(MPI_File_write_at(file, 0, values, kMost, MPI_INT, MPI_STATUS_IGNORE));
  sync_all(file);
  EXPECT_OK(MPI_File_seek_shared(file, at, MPI_SEEK_SET));
  for (int round = 0; round < 6; ++round) {
    const int mine = share_of(rank, round), first = at + before(rank, round);
    memset(values, 0, sizeof values);
    if (round % 2) {
      EXPECT_OK(MPI_File_read_ordered_begin(file, values, mine, MPI_INT));
      EXPECT_OK(MPI_File_read_ordered_end(file, values, &status));
    } else {
      EXPECT_OK(MPI_File_read_ordered(file, values, mine, MPI_INT, &status));
    }
    EXPECT(count_of(&status, MPI_INT) == mine, "count %d", count_of(&status, MPI_INT));
    for (int i = 0; i < mine; ++i)
      EXPECT(values[i] == 1000 + first + i, "int %d of round %d is %d", i, round, values[i]);
    at += before(ranks, round);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(shared_position(file) == at, "the shared pointer is at %lld", shared_position(file));
  MPI_File_close(&file);
}

/* Writes of one rank alone between those of all: each begins where the last one ended. */
static void mixed_with_shared_writes(void) {
  int values[kMost], at = 0;
  MPI_File file = open_new();
  set_view(file);
  for (int round = 0; round < 5; ++round) {
    if (rank == round % ranks) {
      fill(values, at, 4);
      EXPECT_OK(MPI_File_write_shared(file, values, 4, MPI_INT, MPI_STATUS_IGNORE));
    }
    /* No barrier: that the ordered write comes behind it is the library's affair and haichi's. */
    at += 4;
    fill(values, at + before(rank, round), share_of(rank, round));
    EXPECT_OK(
        MPI_File_write_ordered(file, values, share_of(rank, round), MPI_INT, MPI_STATUS_IGNORE));
    at += before(ranks, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT(shared_position(file) == at, "the shared pointer is at %lld", shared_position(file));
  sync_all(file);
  expect_content(file, at);
  MPI_File_close(&file);
}

static void across_the_end(void) {
  int values[kMost];
  MPI_Status status;
  MPI_File file = open_new();
  set_view(file);
  fill(values, 0, 10);
  if (rank == 0) EXPECT_OK(MPI_File_write_at(file, 0, values, 10, MPI_INT, MPI_STATUS_IGNORE));
  sync_all(file);
  memset(values, 0x55, sizeof values);
  EXPECT_OK(MPI_File_read_ordered(file, values, 8, MPI_INT, &status));
  const int there = rank == 0 ? 8 : rank == 1 ? 2 : 0;
  EXPECT(count_of(&status, MPI_INT) == there, "count %d and not %d", count_of(&status, MPI_INT),
         there);
  EXPECT(values[there] == 0x55555555, "bytes that are not there were given");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(shared_position(file) == 8 * ranks, "the shared pointer is at %lld",
         shared_position(file));
  MPI_File_close(&file);
}

/* A call that one rank cannot take is the library's on all, from where the pointer was. */
static void passed_through(void) {
  int values[kMost], at = 0;
  MPI_Info info;
  MPI_Info_create(&info);
  if (rank == ranks - 1) MPI_Info_set(info, "haichi_io", "off");
  MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  MPI_Info_free(&info);
  for (int round = 0; round < 3; ++round) {
    fill(values, at + before(rank, round), share_of(rank, round));
    EXPECT_OK(MPI_File_write_ordered(file, values, share_of(rank, round) * (int)sizeof(int),
                                     MPI_BYTE, MPI_STATUS_IGNORE));
    at += before(ranks, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT(shared_position(file) == (long long)sizeof(int) * at, "the shared pointer is at %lld",
         shared_position(file));
  MPI_File_close(&file);
  look(path, values, at);
  for (int i = 0; i < at; ++i) EXPECT(values[i] == 1000 + i, "int %d is %d", i, values[i]);
}

static const Check checks[] = {
    {"writes follow each other", writes_follow_each_other},
    {"reads follow each other", reads_follow_each_other},
    {"mixed with shared writes", mixed_with_shared_writes},
    {"across the end", across_the_end},
    {"passed through", passed_through},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
