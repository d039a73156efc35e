/* pointer: the individual file pointer through every kind of call that uses, moves or tells it.
 *
 *   mpiexec -n N pointer FOLDER [WORDS OF A CHECK'S NAME]
 * Exit code 1 if a check failed; see check.h. */
#include <stdlib.h>

#include "check.h"

enum { kEtypes = 4096, kMost = 40, kSteps = 400 };

/* Of the walk: where the pointer must be, in etypes, and what the etypes of this rank's view must
 * hold, or -1 where nobody has written. */
static long long pointer;
static int content[kEtypes];
static int values[kMost];
static int next_value;

static unsigned draw(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

/* Two ints of every three, the ranks' parts apart: no collective call is ordered against a mate's
 * independent one, so nobody may fill the holes of another. */
static void set_view(MPI_File file) {
  MPI_Datatype pair, tile;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 3 * (MPI_Aint)sizeof(int), &tile);
  MPI_Type_commit(&tile);
  EXPECT_OK(MPI_File_set_view(file, rank * 2 * kEtypes * (MPI_Aint)sizeof(int), MPI_INT, tile,
                              "native", MPI_INFO_NULL));
  MPI_Type_free(&pair);
  MPI_Type_free(&tile);
  pointer = 0;
}

static void wait_for(MPI_Request* request, int count) {
  MPI_Status status;
  EXPECT_OK(MPI_Wait(request, &status));
  EXPECT(count_of(&status, MPI_INT) == count, "%d of %d ints", count_of(&status, MPI_INT), count);
}

static void expect_count(MPI_Status* status, int count) {
  EXPECT(count_of(status, MPI_INT) == count, "%d of %d ints", count_of(status, MPI_INT), count);
}

static void write_step(MPI_File file, unsigned kind, int count) {
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < count; ++i) content[pointer + i] = values[i] = ++next_value;
  if (kind == 0) {
    EXPECT_OK(MPI_File_write_all(file, values, count, MPI_INT, &status));
    expect_count(&status, count);
  } else if (kind == 1) {
    EXPECT_OK(MPI_File_write(file, values, count, MPI_INT, &status));
    expect_count(&status, count);
  } else if (kind == 2) {
    EXPECT_OK(MPI_File_iwrite_all(file, values, count, MPI_INT, &request));
    wait_for(&request, count);
  } else if (kind == 3) {
    EXPECT_OK(MPI_File_iwrite(file, values, count, MPI_INT, &request));
    wait_for(&request, count);
  } else {
    EXPECT_OK(MPI_File_write_all_begin(file, values, count, MPI_INT));
    EXPECT_OK(MPI_File_write_all_end(file, values, &status));
    expect_count(&status, count);
  }
  pointer += count;
  sync_all(file); /* Open MPI lets a rank go on before an aggregator has written its bytes */
}

static void read_step(MPI_File file, unsigned kind, int count) {
  MPI_Request request;
  MPI_Status status;
  memset(values, 0, sizeof values);
  if (kind == 0) {
    EXPECT_OK(MPI_File_read_all(file, values, count, MPI_INT, &status));
    expect_count(&status, count);
  } else if (kind == 1) {
    EXPECT_OK(MPI_File_read(file, values, count, MPI_INT, &status));
    expect_count(&status, count);
  } else if (kind == 2) {
    EXPECT_OK(MPI_File_iread_all(file, values, count, MPI_INT, &request));
    wait_for(&request, count);
  } else if (kind == 3) {
    EXPECT_OK(MPI_File_iread(file, values, count, MPI_INT, &request));
    wait_for(&request, count);
  } else {
    EXPECT_OK(MPI_File_read_all_begin(file, values, count, MPI_INT));
    EXPECT_OK(MPI_File_read_all_end(file, values, &status));
    expect_count(&status, count);
  }
  for (int i = 0; i < count; ++i)
    EXPECT(content[pointer + i] == values[i], "etype %lld is %d and not %d", pointer + i, values[i],
           content[pointer + i]);
  pointer += count;
}

static void seek_step(MPI_File file, unsigned how, long long target) {
  if (how == 0)
    EXPECT_OK(MPI_File_seek(file, target, MPI_SEEK_SET));
  else if (how == 1)
    EXPECT_OK(MPI_File_seek(file, target - pointer, MPI_SEEK_CUR));
  else
    EXPECT(MPI_File_seek(file, -pointer - 1, MPI_SEEK_CUR) != MPI_SUCCESS,
           "sought before the view");
  if (how < 2) pointer = target;
}

/* All ranks take the same steps, with counts and targets of their own; ranks do not always look
 * where the pointer is, so that it is now known and now not. */
static void walk(unsigned seed) {
  unsigned common = seed, own = seed * 31 + (unsigned)rank;
  MPI_File file = open_new();
  MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  set_view(file);
  next_value = rank * 1000000;
  /* The whole range, so that every later read has bytes to read. */
  for (int at = 0; at < kEtypes; at += kMost)
    write_step(file, draw(&common, 5), kEtypes - at < kMost ? kEtypes - at : kMost);
  for (int step = 0; step < kSteps; ++step) {
    const unsigned what = draw(&common, 13), kind = draw(&common, 5);
    const int count = (int)draw(&own, kMost);
    if (pointer + count > kEtypes) seek_step(file, 0, draw(&own, kEtypes - kMost));
    if (what < 5)
      write_step(file, kind, count);
    else if (what < 10)
      read_step(file, kind, count);
    else if (what < 12)
      seek_step(file, draw(&own, 3), draw(&own, kEtypes - kMost));
    else
      set_view(file);
    if (draw(&own, 3) == 0)
      EXPECT(position_of(file) == pointer,
             "step %d (%u, %u): the pointer is at %lld and not at %lld", step, what, kind,
             position_of(file), pointer);
  }
  EXPECT_OK(MPI_File_close(&file));
}

static void random_walks(void) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    walk(seed);
    int bad = problem[0] != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (bad) return;
  }
}

/* From the end, in a file of this rank's own: the last etype of a view that is not contiguous. */
static void seek_from_the_end(void) {
  char own_path[4200];
  MPI_File file;
  MPI_Status status;
  snprintf(own_path, sizeof own_path, "%s/own-%d.dat", folder, rank);
  EXPECT_OK(MPI_File_open(MPI_COMM_SELF, own_path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                          &file));
  for (int i = 0; i < kMost; ++i) values[i] = 100 + i;
  EXPECT_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  EXPECT_OK(MPI_File_write_all(file, values, kMost, MPI_INT, &status));
  EXPECT(position_of(file) == kMost, "the pointer is at %lld", position_of(file));
  EXPECT_OK(MPI_File_seek(file, -3, MPI_SEEK_END));
  EXPECT(position_of(file) == kMost - 3, "the pointer is at %lld", position_of(file));
  EXPECT_OK(MPI_File_read_all(file, values, 2, MPI_INT, &status));
  EXPECT(values[0] == 100 + kMost - 3 && values[1] == 100 + kMost - 2, "read %d, %d", values[0],
         values[1]);
  EXPECT_OK(MPI_File_seek(file, 0, MPI_SEEK_CUR));
  EXPECT_OK(MPI_File_read(file, values, 1, MPI_INT, &status));
  EXPECT(values[0] == 100 + kMost - 1, "read %d", values[0]);
  EXPECT(position_of(file) == kMost, "the pointer is at %lld", position_of(file));
  EXPECT_OK(MPI_File_close(&file));
}

/* Two handles of one file have a pointer each; so has one that is opened after another's close. */
static void each_handle_has_its_own(void) {
  MPI_Status status;
  for (int i = 0; i < kMost; ++i) values[i] = i;
  MPI_File first = open_new();
  MPI_File second = open_as(MPI_MODE_RDWR, MPI_INFO_NULL);
  set_view(first);
  set_view(second);
  EXPECT_OK(MPI_File_write_all(first, values, 7, MPI_INT, &status));
  EXPECT(position_of(second) == 0, "the other is at %lld", position_of(second));
  EXPECT_OK(MPI_File_write_all(second, values, 5, MPI_INT, &status));
  EXPECT(position_of(first) == 7, "the first is at %lld", position_of(first));
  EXPECT(position_of(second) == 5, "the second is at %lld", position_of(second));
  EXPECT_OK(MPI_File_close(&first));
  first = open_as(MPI_MODE_RDWR, MPI_INFO_NULL);
  EXPECT(position_of(first) == 0, "opened at %lld", position_of(first));
  EXPECT(position_of(second) == 5, "the second is at %lld", position_of(second));
  EXPECT_OK(MPI_File_close(&first));
  EXPECT_OK(MPI_File_close(&second));
}

int main(int argc, char** argv) {
  static const Check kChecks[] = {
      {"random walks", random_walks},
      {"seek from the end", seek_from_the_end},
      {"each handle has its own", each_handle_has_its_own},
  };
  MPI_Init(&argc, &argv);
  const int result = run_checks(argc, argv, kChecks, sizeof kChecks / sizeof *kChecks);
  MPI_Finalize();
  return result;
}
