/* late_part: nonblocking collective accesses that a thread carries out behind the program, with a
 * gate that holds the thread back (faultio's FAULT_GATE).
 *
 *   HAICHI_IO_NONBLOCKING=thread FAULT_GATE=FOLDER/gate mpiexec -n N late_part FOLDER behind
 *                                                       mpiexec -n N late_part FOLDER before
 * Exit code 1 if a check failed; see check.h. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "late.h"

enum { kMany = 120, kFiles = 3 };

/* Of this rank: the others have gates of their own. */
static void close_gate(void) {
  snprintf(gate, sizeof gate, "%s/gate.%d", folder, rank);
  unlink(gate);
}

static void* open_it(void* milliseconds) {
  const long wait = *(const long*)milliseconds;
  nanosleep(&(struct timespec){wait / 1000, wait % 1000 * 1000000}, NULL);
  open_gate();
  return NULL;
}

static void end(MPI_Request* request) {
  MPI_Status status;
  EXPECT_OK(MPI_Wait(request, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
}

static void expect_in_file(const int* values, const char* what) {
  int* const all = malloc(sizeof data * (size_t)ranks);
  look(path, all, kItems * ranks);
  EXPECT(memcmp(all + kItems * rank, values, sizeof data) == 0, "not in the file: %s", what);
  free(all);
}

/* ---- behind the program ---- */

static void behind_it_is_open_until_the_thread_is_done(void) {
  int token = rank, got = -1, done = 1;
  close_gate();
  MPI_File file = open_new();
  MPI_Request request = begin(file);
  EXPECT(!is_complete(request), "complete before its bytes are written");
  EXPECT_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  EXPECT(!done && request != MPI_REQUEST_NULL, "MPI_Test took it away");
  MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  open_gate();
  end(&request);
  expect_in_file(data, "what was waited for");
  MPI_File_close(&file);
}

/* Everything that the call was given is changed before the thread looks at it. */
static void behind_it_keeps_view_and_types(void) {
  MPI_Datatype tile, pairs;
  MPI_Status status;
  close_gate();
  MPI_File file = open_new();
  MPI_Type_vector(kItems, 1, ranks, MPI_INT, &tile);
  MPI_Type_vector(kItems, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&tile);
  MPI_Type_commit(&pairs);
  MPI_Offset place = (MPI_Offset)sizeof(int) * rank;
  EXPECT_OK(MPI_File_set_view(file, place, MPI_INT, tile, "native", MPI_INFO_NULL));
  int spread[2 * kItems];
  for (int i = 0; i < 2 * kItems; ++i) spread[i] = i % 2 ? -1 : rank * 1000 + i / 2;
  MPI_Request request;
  EXPECT_OK(MPI_File_iwrite_all(file, spread, 1, pairs, &request));
  EXPECT(position_of(file) == kItems, "the pointer is at %lld", position_of(file));
  EXPECT_OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
  EXPECT(position_of(file) == 3, "the pointer is at %lld", position_of(file));
  MPI_Type_free(&tile);
  MPI_Type_free(&pairs);
  EXPECT(!gate_is_open(), "a call has waited for the thread");
  open_gate();
  EXPECT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT(count_of(&status, MPI_INT) == kItems, "count %d", count_of(&status, MPI_INT));
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  int* const all = malloc(sizeof data * (size_t)ranks);
  look(path, all, kItems * ranks);
  for (int i = 0; i < kItems * ranks; ++i)
    EXPECT(all[i] == i % ranks * 1000 + i / ranks, "int %d is %d", i, all[i]);
  free(all);
}

/* Reads what is still to be written, with the count that it will have then. */
static void behind_reads_come_after_writes(void) {
  int back[2 * kItems];
  MPI_Status status;
  MPI_Request requests[3];
  close_gate();
  /* Rank 0 alone, so that it knows where the file ends. */
  MPI_File file = open_new();
  for (int i = 0; i < kItems; ++i) data[i] = i, late[i] = i + 7;
  const int count = rank == 0 ? kItems : 0;
  EXPECT_OK(MPI_File_iwrite_at_all(file, 0, data, count, MPI_INT, &requests[0]));
  EXPECT_OK(MPI_File_iwrite_at_all(file, 0, late, count / 2, MPI_INT, &requests[1]));
  memset(back, 0x55, sizeof back);
  EXPECT_OK(MPI_File_iread_at_all(file, 0, back, 2 * count, MPI_INT, &requests[2]));
  open_gate();
  EXPECT_OK(MPI_Wait(&requests[2], &status));
  EXPECT(count_of(&status, MPI_INT) == count, "count %d", count_of(&status, MPI_INT));
  for (int i = 0; i < count; ++i)
    EXPECT(back[i] == (i < count / 2 ? late[i] : data[i]), "int %d is %d", i, back[i]);
  for (int i = count; i < 2 * kItems; ++i) EXPECT(back[i] == 0x55555555, "int %d touched", i);
  EXPECT_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  MPI_File_close(&file);
}

static void behind_other_requests_get_on(void) {
  int token = rank, got = -1, index = -1, seen[3] = {0};
  MPI_Request requests[3];
  close_gate();
  MPI_File file = open_new();
  requests[1] = begin(file);
  MPI_Irecv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&token, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[2]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
    seen[index < 0 ? 1 : index]++;
  }
  EXPECT(seen[0] == 1 && seen[2] == 1 && seen[1] == 0, "the file's request came first");
  open_gate();
  EXPECT_OK(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
  EXPECT(index == 1, "index %d", index);
  MPI_File_close(&file);
}

static void behind_many_of_several_files(void) {
  static int many[kFiles][kMany][kItems];
  static MPI_Request requests[kFiles * kMany];
  static MPI_Status statuses[kFiles * kMany];
  MPI_File files[kFiles];
  close_gate();
  for (int f = 0; f < kFiles; ++f) {
    snprintf(path, sizeof path, "%s/%d.check.dat", folder, f);
    files[f] = open_new();
  }
  for (int i = 0; i < kMany; ++i)
    for (int f = 0; f < kFiles; ++f) {
      for (int k = 0; k < kItems; ++k) many[f][i][k] = f * 1000000 + i * 1000 + k;
      /* All of a file overlap but for an item: the later wins. */
      const MPI_Offset at = (MPI_Offset)sizeof(int) * (rank * (kMany + kItems) + i);
      EXPECT_OK(MPI_File_iwrite_at_all(files[f], at, many[f][i], kItems, MPI_INT,
                                       &requests[i * kFiles + f]));
    }
  open_gate();
  EXPECT_OK(MPI_Waitall(kFiles * kMany, requests, statuses));
  for (int i = 0; i < kFiles * kMany; ++i)
    EXPECT(count_of(&statuses[i], MPI_INT) == kItems, "request %d: wrong count", i);
  for (int f = 0; f < kFiles; ++f) {
    MPI_File_close(&files[f]);
    snprintf(path, sizeof path, "%s/%d.check.dat", folder, f);
    int* const all = malloc(sizeof(int) * (size_t)((kMany + kItems) * ranks));
    look(path, all, (kMany + kItems) * ranks);
    const int* own = all + rank * (kMany + kItems);
    for (int i = 0; i < kMany; ++i)
      EXPECT(own[i] == many[f][i][0], "file %d: int %d is %d", f, i, own[i]);
    for (int k = 1; k < kItems; ++k)
      EXPECT(own[kMany - 1 + k] == many[f][kMany - 1][k], "file %d: the end is wrong", f);
    free(all);
  }
}

/* The request goes at once, the bytes come, and neither the close nor the end loses them. */
static void behind_it_may_be_freed(void) {
  pthread_t helper;
  const long wait = 30;
  close_gate();
  MPI_File file = open_new();
  MPI_Request request = begin(file);
  EXPECT_OK(MPI_Request_free(&request));
  EXPECT(request == MPI_REQUEST_NULL && !gate_is_open(), "MPI_Request_free has waited");
  pthread_create(&helper, NULL, open_it, (void*)&wait);
  MPI_File_close(&file);
  pthread_join(helper, NULL);
  expect_in_file(data, "what was freed");
}

/* The thread has no use for the processor while it is held back, nor has who waits for it. */
static void behind_who_waits_sleeps(void) {
  pthread_t helper;
  const long wait = 600;
  struct timespec before, after;
  close_gate();
  MPI_File file = open_new();
  MPI_Request request = begin(file);
  pthread_create(&helper, NULL, open_it, (void*)&wait);
  const double begun = MPI_Wtime();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  end(&request);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const double took = MPI_Wtime() - begun;
  const double burnt =
      (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
  EXPECT(burnt < 0.5 * took, "%.0f%% of the time on the processor", 100 * burnt / took);
  pthread_join(helper, NULL);
  MPI_File_close(&file);
}

/* ---- before anything else happens to the file ---- */

typedef void (*Other)(MPI_File file);

/* What another call does to the file or learns of it comes behind the write. A helper opens the
 * gate while the call waits; a call that did not wait would find it closed. */
static void before(Other other) {
  pthread_t helper;
  const long wait = 30;
  close_gate();
  MPI_File file = open_new();
  MPI_Request request = begin(file);
  pthread_create(&helper, NULL, open_it, (void*)&wait);
  other(file);
  EXPECT(gate_is_open(), "the call did not wait for the thread");
  pthread_join(helper, NULL);
  end(&request);
  MPI_File_close(&file);
}

static void expect_read(const int* got, MPI_Status* status) {
  EXPECT(memcmp(got, data, sizeof data) == 0, "other bytes were read");
  EXPECT(count_of(status, MPI_INT) == kItems, "count %d", count_of(status, MPI_INT));
}

static void read_at(MPI_File file) {
  MPI_Status status;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_read_at(file, mine(), got, kItems, MPI_INT, &status));
  expect_read(got, &status);
}

static void read_at_pointer(MPI_File file) {
  MPI_Status status;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_seek(file, mine(), MPI_SEEK_SET));
  EXPECT_OK(MPI_File_read(file, got, kItems, MPI_INT, &status));
  expect_read(got, &status);
}

static void iread_at(MPI_File file) {
  MPI_Status status;
  MPI_Request request;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_iread_at(file, mine(), got, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, &status));
  expect_read(got, &status);
}

static void read_at_all(MPI_File file) {
  MPI_Status status;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_read_at_all(file, mine(), got, kItems, MPI_INT, &status));
  expect_read(got, &status);
}

static void read_split(MPI_File file) {
  MPI_Status status;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_read_at_all_begin(file, mine(), got, kItems, MPI_INT));
  EXPECT_OK(MPI_File_read_at_all_end(file, got, &status));
  expect_read(got, &status);
}

static void read_ordered(MPI_File file) {
  MPI_Status status;
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_read_ordered(file, got, kItems, MPI_INT, &status));
  expect_read(got, &status);
}

static void read_shared(MPI_File file) {
  int got[kItems] = {0};
  EXPECT_OK(MPI_File_read_shared(file, got, kItems, MPI_INT, MPI_STATUS_IGNORE));
}

static void expect_later_wins(void) { expect_in_file(late, "the later write"); }

static void write_at(MPI_File file) {
  EXPECT_OK(MPI_File_write_at(file, mine(), late, kItems, MPI_INT, MPI_STATUS_IGNORE));
  expect_later_wins();
}

static void write_at_pointer(MPI_File file) {
  EXPECT_OK(MPI_File_seek(file, mine(), MPI_SEEK_SET));
  EXPECT_OK(MPI_File_write(file, late, kItems, MPI_INT, MPI_STATUS_IGNORE));
  expect_later_wins();
}

static void iwrite_at(MPI_File file) {
  MPI_Request request;
  EXPECT_OK(MPI_File_iwrite_at(file, mine(), late, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  expect_later_wins();
}

static void write_at_all(MPI_File file) {
  EXPECT_OK(MPI_File_write_at_all(file, mine(), late, kItems, MPI_INT, MPI_STATUS_IGNORE));
  expect_later_wins();
}

static void write_ordered(MPI_File file) {
  EXPECT_OK(MPI_File_write_ordered(file, late, kItems, MPI_INT, MPI_STATUS_IGNORE));
  expect_later_wins();
}

/* No bytes of this rank's own, but all the others': aggregators read and write back what is not
 * theirs, all around the late writes. */
static void around(MPI_File file) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "haichi_holes", "rmw");
  EXPECT_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  const MPI_Offset at = (MPI_Offset)sizeof data * (rank == 0 ? ranks : ranks + rank);
  EXPECT_OK(MPI_File_write_at_all(file, at, late, 1, MPI_INT, MPI_STATUS_IGNORE));
  expect_in_file(data, "what a read-modify-write was around");
}

static void sync_it(MPI_File file) {
  EXPECT_OK(MPI_File_sync(file));
  expect_in_file(data, "what was to be synchronised");
}

static void get_size(MPI_File file) {
  MPI_Offset size = -1;
  EXPECT_OK(MPI_File_get_size(file, &size));
  EXPECT(size >= mine() + (MPI_Offset)sizeof data, "%lld bytes", (long long)size);
}

static void set_size(MPI_File file) {
  MPI_Offset size = -1;
  EXPECT_OK(MPI_File_set_size(file, 8));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_OK(MPI_File_get_size(file, &size));
  EXPECT(size == 8, "%lld bytes", (long long)size);
}

static void preallocate(MPI_File file) {
  EXPECT_OK(MPI_File_preallocate(file, (MPI_Offset)sizeof data * ranks));
}

static void seek_end(MPI_File file) {
  EXPECT_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  const long long at = position_of(file);
  EXPECT(at >= mine() + (MPI_Offset)sizeof data, "the pointer is at %lld", at);
}

static void set_view(MPI_File file) {
  EXPECT_OK(MPI_File_set_view(file, 4, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static void set_atomicity(MPI_File file) { EXPECT_OK(MPI_File_set_atomicity(file, 1)); }

static void set_to_now(MPI_File file) {
  MPI_Info info;
  MPI_Request request;
  MPI_Info_create(&info);
  MPI_Info_set(info, "haichi_nonblocking", "now");
  EXPECT_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  EXPECT_OK(MPI_File_iwrite_at_all(file, mine(), late, kItems, MPI_INT, &request));
  expect_later_wins();
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void before_a_read_at(void) { before(read_at); }
static void before_a_read(void) { before(read_at_pointer); }
static void before_an_iread_at(void) { before(iread_at); }
static void before_a_read_at_all(void) { before(read_at_all); }
static void before_a_split_read(void) { before(read_split); }
static void before_an_ordered_read(void) { before(read_ordered); }
static void before_a_shared_read(void) { before(read_shared); }
static void before_a_write_at(void) { before(write_at); }
static void before_a_write(void) { before(write_at_pointer); }
static void before_an_iwrite_at(void) { before(iwrite_at); }
static void before_a_write_at_all(void) { before(write_at_all); }
static void before_an_ordered_write(void) { before(write_ordered); }
static void before_a_write_around_it(void) { before(around); }
static void before_a_sync(void) { before(sync_it); }
static void before_get_size(void) { before(get_size); }
static void before_set_size(void) { before(set_size); }
static void before_preallocate(void) { before(preallocate); }
static void before_a_seek_to_the_end(void) { before(seek_end); }
static void before_set_view(void) { before(set_view); }
static void before_set_atomicity(void) { before(set_atomicity); }
static void before_one_that_is_done_now(void) { before(set_to_now); }

static const Check checks[] = {
    {"behind: open until the thread is done", behind_it_is_open_until_the_thread_is_done},
    {"behind: view and types", behind_it_keeps_view_and_types},
    {"behind: reads come after writes", behind_reads_come_after_writes},
    {"behind: other requests get on", behind_other_requests_get_on},
    {"behind: many of several files", behind_many_of_several_files},
    {"behind: freed", behind_it_may_be_freed},
    {"behind: who waits sleeps", behind_who_waits_sleeps},
    {"before an access: read at an offset", before_a_read_at},
    {"before an access: read at the pointer", before_a_read},
    {"before an access: nonblocking read of the library", before_an_iread_at},
    {"before an access: collective read", before_a_read_at_all},
    {"before an access: split read", before_a_split_read},
    {"before an access: ordered read", before_an_ordered_read},
    {"before an access: read at the shared pointer", before_a_shared_read},
    {"before an access: write at an offset", before_a_write_at},
    {"before an access: write at the pointer", before_a_write},
    {"before an access: nonblocking write of the library", before_an_iwrite_at},
    {"before an access: collective write", before_a_write_at_all},
    {"before an access: ordered write", before_an_ordered_write},
    {"before an access: read-modify-write around it", before_a_write_around_it},
    {"before a call: sync", before_a_sync},
    {"before a call: get_size", before_get_size},
    {"before a call: set_size", before_set_size},
    {"before a call: a seek to the end", before_a_seek_to_the_end},
    {"before a call: set_view", before_set_view},
    {"before a call: set_atomicity", before_set_atomicity},
    /* The last: after it Open MPI 4.1.4 hangs in MPI_File_open now and then, without haichi too. */
    {"before a call: preallocate", before_preallocate},
    {"before an access: one that is done now", before_one_that_is_done_now},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
