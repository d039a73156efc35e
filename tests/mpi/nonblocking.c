/* nonblocking: nonblocking collective accesses in the programs for which the standard has them.
 *
 *   mpiexec -n N nonblocking FOLDER [WORDS OF A CHECK'S NAME]
 * N is at least 2. Exit code 1 if a check failed; see check.h. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "check.h"

enum { kItems = 40 };

/* Items of each rank in turn: those of this rank are every ranks-th int of the file. */
static void interleave(MPI_File file) {
  MPI_Datatype one, tile;
  MPI_Type_contiguous(1, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)(sizeof(int) * (size_t)ranks), &tile);
  MPI_Type_commit(&tile);
  EXPECT_OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, tile, "native",
                              MPI_INFO_NULL));
  MPI_Type_free(&tile);
  MPI_Type_free(&one);
}

static void fill(int* values, int salt) {
  for (int i = 0; i < kItems; ++i) values[i] = salt * 100000 + rank * 1000 + i;
}

/* Call when the file is closed on all ranks. */
static void expect_interleaved(const char* name, int salt) {
  int* all = malloc(sizeof(int) * (size_t)(kItems * ranks));
  MPI_Barrier(MPI_COMM_WORLD);
  look(name, all, kItems * ranks);
  for (int i = 0; i < kItems * ranks; ++i) {
    const int want = salt * 100000 + i % ranks * 1000 + i / ranks;
    EXPECT(all[i] == want, "int %d of the file is %d and not %d", i, all[i], want);
  }
  free(all);
}

static void expect_whole(MPI_Status* status) {
  int elements = -1;
  MPI_Count elements_x = -1;
  EXPECT(count_of(status, MPI_INT) == kItems, "count %d", count_of(status, MPI_INT));
  MPI_Get_elements(status, MPI_INT, &elements);
  MPI_Get_elements_x(status, MPI_INT, &elements_x);
  EXPECT(elements == kItems && elements_x == kItems, "elements %d", elements);
}

static void expect_not_cancelled(MPI_Status* status) {
  int cancelled = -1;
  MPI_Test_cancelled(status, &cancelled);
  EXPECT(cancelled == 0, "the request says that it was cancelled");
}

enum { kFileA, kFileB, kSend, kReceive, kRequests };

typedef struct {
  MPI_File a, b;
  char name_b[4200];
  int from_a[kItems], from_b[kItems], token, got;
  MPI_Request requests[kRequests];
} Mixture;

/* Writes to two files and a message to the next rank, all outstanding. */
static void begin_mixture(Mixture* m, int salt) {
  m->a = open_new();
  const size_t length = strlen(path);
  snprintf(m->name_b, sizeof m->name_b, "%s.b", path);
  strcat(path, ".b");
  m->b = open_new();
  path[length] = 0;
  interleave(m->a);
  interleave(m->b);
  fill(m->from_a, salt);
  fill(m->from_b, salt + 1);
  m->token = 77 + rank;
  m->got = -1;
  EXPECT_OK(MPI_File_iwrite_all(m->a, m->from_a, kItems, MPI_INT, &m->requests[kFileA]));
  EXPECT(position_of(m->a) == kItems, "the pointer is at %lld", position_of(m->a));
  MPI_Irecv(&m->got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
            &m->requests[kReceive]);
  EXPECT_OK(MPI_File_iwrite_at_all(m->b, 0, m->from_b, kItems, MPI_INT, &m->requests[kFileB]));
  EXPECT(position_of(m->b) == 0, "the pointer is at %lld", position_of(m->b));
  MPI_Isend(&m->token, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &m->requests[kSend]);
}

static void end_mixture(Mixture* m, MPI_Status* of_a, MPI_Status* of_b, int salt) {
  for (int i = 0; i < kRequests; ++i)
    EXPECT(m->requests[i] == MPI_REQUEST_NULL, "request %d is still there", i);
  expect_whole(of_a);
  expect_whole(of_b);
  expect_not_cancelled(of_a);
  expect_not_cancelled(of_b);
  EXPECT(m->got == 77 + (rank + ranks - 1) % ranks, "the message says %d", m->got);
  MPI_File_close(&m->a);
  MPI_File_close(&m->b);
  expect_interleaved(path, salt);
  expect_interleaved(m->name_b, salt + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(m->name_b);
}

static void waitall(void) {
  Mixture m;
  MPI_Status statuses[kRequests];
  begin_mixture(&m, 1);
  EXPECT_OK(MPI_Waitall(kRequests, m.requests, statuses));
  end_mixture(&m, &statuses[kFileA], &statuses[kFileB], 1);
}

static void waitany(void) {
  Mixture m;
  MPI_Status statuses[kRequests], status;
  int seen[kRequests] = {0}, index;
  begin_mixture(&m, 3);
  for (int i = 0; i < kRequests; ++i) {
    EXPECT_OK(MPI_Waitany(kRequests, m.requests, &index, &status));
    if (index == MPI_UNDEFINED) break;
    seen[index]++;
    statuses[index] = status;
  }
  for (int i = 0; i < kRequests; ++i)
    EXPECT(seen[i] == 1, "request %d was seen %d times", i, seen[i]);
  EXPECT_OK(MPI_Waitany(kRequests, m.requests, &index, &status));
  EXPECT(index == MPI_UNDEFINED, "request %d was there for ever", index);
  end_mixture(&m, &statuses[kFileA], &statuses[kFileB], 3);
}

static void testsome(void) {
  Mixture m;
  MPI_Status statuses[kRequests], some[kRequests];
  int indices[kRequests], done = 0, left = kRequests;
  begin_mixture(&m, 5);
  while (left > 0) {
    EXPECT_OK(MPI_Testsome(kRequests, m.requests, &done, indices, some));
    if (done == MPI_UNDEFINED) break;
    for (int i = 0; i < done; ++i) statuses[indices[i]] = some[i];
    left -= done;
  }
  EXPECT(left == 0, "%d requests are left", left);
  end_mixture(&m, &statuses[kFileA], &statuses[kFileB], 5);
}

static void testall_after_get_status(void) {
  Mixture m;
  MPI_Status statuses[kRequests];
  int done = 0;
  begin_mixture(&m, 7);
  while (!done) EXPECT_OK(MPI_Request_get_status(m.requests[kFileA], &done, &statuses[kFileA]));
  expect_whole(&statuses[kFileA]);
  EXPECT(m.requests[kFileA] != MPI_REQUEST_NULL, "a look took the request away");
  for (done = 0; !done;) EXPECT_OK(MPI_Testall(kRequests, m.requests, &done, statuses));
  end_mixture(&m, &statuses[kFileA], &statuses[kFileB], 7);
}

/* A rank may begin only after a message that another sends once it has begun, and may be away in a
 * receive while another waits. Whoever makes the ranks meet, or works in MPI_Wait only, hangs. */
static void begun_in_turn(void) {
  int data[kItems], back[kItems], token = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_File file = open_new();
  interleave(file);
  fill(data, 2);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_OK(MPI_File_iwrite_at_all(file, 0, data, kItems, MPI_INT, &request));
  if (rank + 1 < ranks) MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
  EXPECT_OK(MPI_Wait(&request, &status));
  expect_whole(&status);
  sync_all(file);
  EXPECT_OK(MPI_File_iread_at_all(file, 0, back, kItems, MPI_INT, &request));
  /* All have begun. Rank 0 now waits for the others' messages, and they for their requests. */
  if (rank == 0)
    for (int peer = 1; peer < ranks; ++peer)
      MPI_Recv(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_OK(MPI_Wait(&request, &status));
  if (rank > 0) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  MPI_File_close(&file);
}

static void one_after_the_other(void) {
  int data[kItems], back[kItems];
  MPI_Request request;
  MPI_File file = open_new();
  fill(data, 2);
  const MPI_Offset mine = (MPI_Offset)sizeof data * rank;
  EXPECT_OK(MPI_File_iwrite_at_all(file, mine, data, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  sync_all(file);
  EXPECT_OK(MPI_File_iread_at_all(file, mine, back, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  MPI_File_close(&file);
}

static void many_outstanding(void) {
  enum { kMany = 60 };
  int data[kMany][kItems], back[kMany][kItems];
  MPI_Request requests[kMany];
  MPI_File file = open_new();
  interleave(file);
  for (int i = 0; i < kMany; ++i) {
    fill(data[i], i);
    EXPECT_OK(MPI_File_iwrite_all(file, data[i], kItems, MPI_INT, &requests[i]));
  }
  for (int i = kMany; i-- > 0;) {
    MPI_Status status;
    EXPECT_OK(MPI_Wait(&requests[i], &status));
    expect_whole(&status);
  }
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < kMany; ++i)
    EXPECT_OK(MPI_File_iread_all(file, back[i], kItems, MPI_INT, &requests[i]));
  EXPECT_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  MPI_File_close(&file);
}

/* A rank may free the request and go on. */
static void freed(void) {
  int data[kItems];
  MPI_Request request;
  MPI_File file = open_new();
  interleave(file);
  fill(data, 4);
  EXPECT_OK(MPI_File_iwrite_all(file, data, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Request_free(&request));
  MPI_File_close(&file);
  expect_interleaved(path, 4);
}

/* The file ends in the middle of what is read. */
static void across_the_end(void) {
  const int there = kItems / 2;
  int data[kItems], back[kItems];
  MPI_Request request;
  MPI_Status status;
  MPI_File file = open_new();
  interleave(file);
  fill(data, 6);
  EXPECT_OK(MPI_File_write_all(file, data, there, MPI_INT, MPI_STATUS_IGNORE));
  sync_all(file);
  memset(back, 0x55, sizeof back);
  EXPECT_OK(MPI_File_iread_at_all(file, 0, back, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT(count_of(&status, MPI_INT) == there, "count %d", count_of(&status, MPI_INT));
  EXPECT(memcmp(data, back, sizeof(int) * (size_t)there) == 0, "other bytes were read");
  for (int i = there; i < kItems; ++i) EXPECT(back[i] == 0x55555555, "int %d was touched", i);
  EXPECT_OK(MPI_File_iread_at_all(file, 1000, back, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT(count_of(&status, MPI_INT) == 0, "count %d behind the end", count_of(&status, MPI_INT));
  MPI_File_close(&file);
}

/* Other ranks write into the holes of a rank's pieces at the same time, each rank its own bytes, by
 * any call: all of them must be there afterwards. */
static void neighbours_write_at_the_same_time(void) {
  int data[kItems], back[kItems];
  MPI_Request request;
  MPI_File file = open_new(), own;
  EXPECT_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &own));
  interleave(file);
  for (int round = 0; round < 100; ++round) {
    fill(data, round % 20);
    const int by_itself = (rank + round) % 2;
    EXPECT_OK(MPI_File_iwrite_at_all(file, 0, data, by_itself ? 0 : kItems, MPI_INT, &request));
    for (int i = 0; by_itself && i < kItems; ++i)
      MPI_File_write_at(own, (MPI_Offset)sizeof(int) * (i * ranks + rank), &data[i], 1, MPI_INT,
                        MPI_STATUS_IGNORE);
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT_OK(MPI_File_iread_at_all(file, 0, back, kItems, MPI_INT, &request));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EXPECT(memcmp(data, back, sizeof data) == 0, "round %d: bytes are lost", round);
  }
  MPI_File_close(&own);
  MPI_File_close(&file);
  expect_interleaved(path, 99 % 20);
}

/* A hint of one rank alone must not part it from the others. */
static void one_rank_has_a_hint_of_its_own(void) {
  int data[kItems], back[kItems];
  MPI_Request request;
  MPI_Status status;
  MPI_Info info;
  MPI_Info_create(&info);
  if (rank == 1) MPI_Info_set(info, "haichi_io", "off");
  MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  MPI_Info_free(&info);
  interleave(file);
  fill(data, 8);
  EXPECT_OK(MPI_File_iwrite_all(file, data, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, &status));
  expect_whole(&status);
  sync_all(file);
  EXPECT_OK(MPI_File_iread_at_all(file, 0, back, kItems, MPI_INT, &request));
  EXPECT_OK(MPI_Wait(&request, &status));
  EXPECT(memcmp(data, back, sizeof data) == 0, "other bytes were read");
  MPI_File_close(&file);
  expect_interleaved(path, 8);
}

static int handler_calls, handler_class;
static void on_error(MPI_File* file, int* code, ...) {
  (void)file;
  ++handler_calls;
  handler_class = class_of(*code);
}

/* Whether a thread carries the accesses out, so that errors come in MPI_Wait. */
static int behind_the_program(void) {
  const char* when = getenv("HAICHI_IO_NONBLOCKING");
  return when && strcmp(when, "thread") == 0;
}

/* The disk is "full" for one rank: its call fails, by the file's error handler; the others' go on.
 */
static void a_failed_write(void) {
  int data[kItems], code;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Errhandler handler;
  MPI_File file = open_new();
  interleave(file);
  fill(data, 9);
  MPI_File_create_errhandler(on_error, &handler);
  MPI_File_set_errhandler(file, handler);
  handler_calls = 0;
  struct rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 0;
  signal(SIGXFSZ, SIG_IGN);
  if (rank == 0) setrlimit(RLIMIT_FSIZE, &none);
  code = MPI_File_iwrite_all(file, data, kItems, MPI_INT, &request);
  if (rank == 0 && behind_the_program()) {
    EXPECT(code == MPI_SUCCESS && handler_calls == 0, "an error of the thread came in the call");
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  if (rank == 0) {
    EXPECT(class_of(code) == MPI_ERR_IO, "the error class is %d", class_of(code));
    EXPECT(request == MPI_REQUEST_NULL, "a failed call left a request");
    EXPECT(handler_calls == 1 && handler_class == MPI_ERR_IO, "the handler was called %d times",
           handler_calls);
  } else {
    MPI_Status status;
    EXPECT(code == MPI_SUCCESS && handler_calls == 0, "another rank's error came here");
    EXPECT_OK(MPI_Wait(&request, &status));
    expect_whole(&status);
  }
  MPI_Errhandler_free(&handler);
  MPI_File_close(&file);
}

static const Check checks[] = {
    {"waitall", waitall},
    {"waitany", waitany},
    {"testsome", testsome},
    {"testall after get_status", testall_after_get_status},
    {"begun in turn", begun_in_turn},
    {"many outstanding", many_outstanding},
    {"freed", freed},
    {"across the end", across_the_end},
    {"neighbours write at the same time", neighbours_write_at_the_same_time},
    {"one rank has a hint of its own", one_rank_has_a_hint_of_its_own},
    {"one after the other", one_after_the_other},
    {"a failed write", a_failed_write},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
