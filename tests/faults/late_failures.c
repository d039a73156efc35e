/* late_failures: nonblocking collective accesses that fail behind the program.
 *
 *   HAICHI_IO_NONBLOCKING=thread FAULT_WRITE=EIO mpiexec -n N late_failures FOLDER failed
 *   HAICHI_IO_NONBLOCKING=thread mpiexec -n N late_failures FOLDER "full disk"
 * Exit code 1 if a check failed; see check.h. */
#include <stdlib.h>

#include "late.h"

static int handler_calls, wanted_class;
static void on_error(MPI_File* file, int* code, ...) {
  (void)file;
  ++handler_calls;
  EXPECT(class_of(*code) == wanted_class, "the handler got class %d", class_of(*code));
}

/* MPI_COMM_WORLD keeps the handler that ends the job: nobody may call it. */
static MPI_File open_to_fail(void) {
  MPI_Errhandler handler;
  const char* error = getenv("FAULT_WRITE");
  wanted_class = error && strcmp(error, "ENOSPC") == 0 ? MPI_ERR_NO_SPACE : MPI_ERR_IO;
  MPI_File file = open_new();
  MPI_File_create_errhandler(on_error, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  handler_calls = 0;
  return file;
}

static void expect_told(int code, int times) {
  EXPECT(class_of(code) == wanted_class, "the error class is %d", class_of(code));
  EXPECT(handler_calls == times, "the handler was called %d times", handler_calls);
}

static void failed_wait(void) {
  MPI_File file = open_to_fail();
  MPI_Request request = begin(file);
  EXPECT(handler_calls == 0, "the error came in the call");
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_told(code, 1);
  EXPECT(request == MPI_REQUEST_NULL, "the request is still there");
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
}

static void failed_test_after_get_status(void) {
  int done = 0, code = MPI_SUCCESS;
  MPI_File file = open_to_fail();
  MPI_Request request = begin(file);
  while (!is_complete(request)) continue;
  EXPECT(handler_calls == 0, "the error came where the request did not end");
  while (!done) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  expect_told(code, 1);
  MPI_File_close(&file);
}

/* One request of the file's between two messages. */
static void begin_three(MPI_File file, MPI_Request requests[3], int* token, int* got) {
  *token = rank;
  MPI_Irecv(got, 1, MPI_INT, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &requests[0]);
  requests[1] = begin(file);
  MPI_Isend(token, 1, MPI_INT, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &requests[2]);
}

static void expect_in_status(const MPI_Status* status, int failed) {
  EXPECT(class_of(status->MPI_ERROR) == (failed ? wanted_class : MPI_SUCCESS),
         "a status has class %d", class_of(status->MPI_ERROR));
}

static void failed_waitall(void) {
  int token, got;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  memset(statuses, 0x55, sizeof statuses);
  MPI_File file = open_to_fail();
  begin_three(file, requests, &token, &got);
  const int code = MPI_Waitall(3, requests, statuses);
  EXPECT(class_of(code) == MPI_ERR_IN_STATUS, "the error class is %d", class_of(code));
  EXPECT(handler_calls == 1, "the handler was called %d times", handler_calls);
  for (int i = 0; i < 3; ++i) expect_in_status(&statuses[i], i == 1);
  begin_three(file, requests, &token, &got);
  EXPECT(class_of(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)) == MPI_ERR_IN_STATUS,
         "no error without statuses");
  MPI_File_close(&file);
}

static void failed_waitsome(void) {
  int token, got, left = 3, failures = 0;
  MPI_Request requests[3];
  MPI_File file = open_to_fail();
  begin_three(file, requests, &token, &got);
  while (left > 0 && !problem[0]) {
    int some = 0, indices[3], ours = -1;
    MPI_Status statuses[3];
    memset(statuses, 0x55, sizeof statuses);
    const int code = left > 1 ? MPI_Waitsome(3, requests, &some, indices, statuses)
                              : MPI_Testsome(3, requests, &some, indices, statuses);
    left -= some;
    for (int i = 0; i < some; ++i)
      if (indices[i] == 1) ours = i;
    EXPECT(class_of(code) == (ours < 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS), "class %d",
           class_of(code));
    if (ours < 0) continue;
    ++failures;
    for (int i = 0; i < some; ++i) expect_in_status(&statuses[i], i == ours);
  }
  EXPECT(failures == 1, "the failure was told %d times", failures);
  EXPECT(handler_calls == 1, "the handler was called %d times", handler_calls);
  MPI_File_close(&file);
}

static void failed_waitany(void) {
  int token, got, failures = 0;
  MPI_Request requests[3];
  MPI_File file = open_to_fail();
  begin_three(file, requests, &token, &got);
  for (int i = 0; i < 3; ++i) {
    int index = -1;
    const int code = MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    EXPECT(class_of(code) == (index == 1 ? wanted_class : MPI_SUCCESS), "index %d: class %d", index,
           class_of(code));
    failures += code != MPI_SUCCESS;
  }
  expect_told(wanted_class, 1);
  EXPECT(failures == 1, "the failure was told %d times", failures);
  MPI_File_close(&file);
}

static void failed_and_freed(void) {
  MPI_File file = open_to_fail();
  MPI_Request request = begin(file);
  EXPECT_OK(MPI_Request_free(&request));
  MPI_File_close(&file);
  EXPECT(handler_calls == 0, "the handler was called for nobody's request");
}

/* More than the disk holds; who comes early may find room. */
static void full_disk(void) {
  enum { kLarge = 40000 };
  static char much[kLarge];
  MPI_Request request;
  int failed, any = 0;
  MPI_File file = open_new();
  const MPI_Offset at = (MPI_Offset)kLarge * rank;
  EXPECT_OK(MPI_File_iwrite_at_all(file, at, much, kLarge, MPI_BYTE, &request));
  const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  failed = class_of(code) == MPI_ERR_NO_SPACE;
  EXPECT(failed || code == MPI_SUCCESS, "the error class is %d", class_of(code));
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT(any, "a full disk was not told");
  MPI_File_close(&file);
}

static const Check checks[] = {
    {"failed: wait", failed_wait},
    {"failed: test after get_status", failed_test_after_get_status},
    {"failed: waitall", failed_waitall},
    {"failed: waitsome", failed_waitsome},
    {"failed: waitany", failed_waitany},
    {"failed: freed", failed_and_freed},
    {"full disk", full_disk},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
