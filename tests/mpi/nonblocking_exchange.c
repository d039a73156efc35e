/* nonblocking_exchange: what legal programs do around MPI_Ialltoall and MPI_Ialltoallv. Whoever
 * waits for other ranks in the call, or gets on in MPI_Wait only, hangs in one or the other.
 *
 *   mpiexec -n N nonblocking_exchange FOLDER [WORDS OF A CHECK'S NAME]
 * N is at least 2. Exit code 1 if a check failed; see check.h. */
#include <stdlib.h>

#include "check.h"

enum { kLarge = 100000, kMost = 40 }; /* ints for each rank: beyond any eager limit; ranks */

typedef struct {
  int size;
  int *out, *in;
} Blocks;

static Blocks make_blocks(int size, int salt) {
  Blocks b = {size, malloc(sizeof(int) * (size_t)(size * ranks)),
              malloc(sizeof(int) * (size_t)(size * ranks))};
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < size; ++i) {
      b.out[peer * size + i] = salt * 1000000 + rank * 10000 + peer * 100 + i % 100;
      b.in[peer * size + i] = -1;
    }
  return b;
}

static void check_blocks(Blocks* b, int salt) {
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < b->size; ++i) {
      const int want = salt * 1000000 + peer * 10000 + rank * 100 + i % 100;
      EXPECT(b->in[peer * b->size + i] == want, "int %d from rank %d is %d and not %d", i, peer,
             b->in[peer * b->size + i], want);
    }
  free(b->out);
  free(b->in);
}

static void begin(Blocks* b, MPI_Comm comm, MPI_Request* request) {
  EXPECT_OK(MPI_Ialltoall(b->out, b->size, MPI_INT, b->in, b->size, MPI_INT, comm, request));
}

/* Rank 0 starts, and only then lets the others start. */
static void started_after_a_message(int size) {
  int token = 0;
  MPI_Request request;
  Blocks b = make_blocks(size, 1);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin(&b, MPI_COMM_WORLD, &request);
  if (rank + 1 < ranks) MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_blocks(&b, 1);
}

static void one_starts_before_the_other(void) {
  started_after_a_message(10);
  started_after_a_message(kLarge);
}

/* The same with many calls, all of which one rank starts before the next one starts any. */
static void many_start_before_the_others(void) {
  enum { kMany = 70 };
  static Blocks b[kMany];
  MPI_Request requests[kMany];
  int token = 0;
  for (int i = 0; i < kMany; ++i) b[i] = make_blocks(100, i);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kMany; ++i) begin(&b[i], MPI_COMM_WORLD, &requests[i]);
  if (rank + 1 < ranks) MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
  EXPECT_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; ++i) check_blocks(&b[i], i);
}

/* All have started. Rank 0 waits for messages that the others send when their part is complete, and
 * must send and receive its own blocks meanwhile. */
static void away_in_a_receive(void) {
  int token = 0;
  MPI_Request request;
  Blocks b = make_blocks(kLarge, 2);
  begin(&b, MPI_COMM_WORLD, &request);
  if (rank == 0)
    for (int peer = 1; peer < ranks; ++peer)
      MPI_Recv(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (rank > 0) MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  check_blocks(&b, 2);
}

/* The same, away in a blocking collective of another communicator. */
static void away_in_a_barrier(void) {
  MPI_Request request;
  MPI_Comm other;
  Blocks b = make_blocks(kLarge, 3);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  begin(&b, MPI_COMM_WORLD, &request);
  if (rank == 0) MPI_Barrier(other);
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (rank > 0) MPI_Barrier(other);
  check_blocks(&b, 3);
  MPI_Comm_free(&other);
}

/* On two communicators, not in the same order on all ranks, and waited for in the other one. */
static void two_communicators_crosswise(void) {
  MPI_Comm comms[2];
  MPI_Request requests[2];
  Blocks b[2] = {make_blocks(kLarge, 4), make_blocks(kLarge, 5)};
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  const int first = rank % 2;
  begin(&b[first], comms[first], &requests[first]);
  begin(&b[!first], comms[!first], &requests[!first]);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  EXPECT_OK(MPI_Wait(&requests[first], MPI_STATUS_IGNORE));
  EXPECT_OK(MPI_Wait(&requests[!first], MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; ++i) check_blocks(&b[i], 4 + i);
}

/* A communicator may go and another one come while exchanges of the first are under way. */
static void communicators_come_and_go(void) {
  enum { kTimes = 30 };
  MPI_Request requests[kTimes];
  static Blocks b[kTimes];
  for (int i = 0; i < kTimes; ++i) {
    MPI_Comm comm;
    b[i] = make_blocks(i % 3 == 0 ? 5000 : 20, i);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    begin(&b[i], comm, &requests[i]);
    MPI_Comm_free(&comm);
    if (i % 7 == 6) EXPECT_OK(MPI_Waitall(i + 1, requests, MPI_STATUSES_IGNORE));
  }
  EXPECT_OK(MPI_Waitall(kTimes, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kTimes; ++i) check_blocks(&b[i], i);
}

/* Blocking ones of the same communicator in between. */
static void among_blocking_ones(void) {
  MPI_Request requests[6];
  Blocks open[6];
  for (int i = 0; i < 6; ++i) {
    Blocks now = make_blocks(30, 10 + i);
    open[i] = make_blocks(30, i);
    begin(&open[i], MPI_COMM_WORLD, &requests[i]);
    EXPECT_OK(MPI_Alltoall(now.out, now.size, MPI_INT, now.in, now.size, MPI_INT, MPI_COMM_WORLD));
    check_blocks(&now, 10 + i);
  }
  EXPECT_OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 6; ++i) check_blocks(&open[i], i);
}

/* Calls without bytes, or with bytes for some ranks only. */
static void nothing_or_little(void) {
  int counts[kMost] = {0}, from[kMost] = {0}, at[kMost], one = 50 + rank, got[2] = {-1, -1},
      none = -1, nowhere = -1;
  MPI_Datatype types[kMost];
  MPI_Request requests[4];
  for (int peer = 0; peer < ranks; ++peer) at[peer] = 0, types[peer] = MPI_INT;
  counts[(rank + 1) % ranks] = 1;
  from[(rank + ranks - 1) % ranks] = 1;
  EXPECT_OK(MPI_Ialltoall(&none, 0, MPI_INT, &nowhere, 0, MPI_INT, MPI_COMM_WORLD, &requests[0]));
  EXPECT_OK(MPI_Ialltoallv(&one, counts, at, MPI_INT, &got[0], from, at, MPI_INT, MPI_COMM_WORLD,
                           &requests[1]));
  EXPECT_OK(MPI_Ialltoallw(&one, counts, at, types, &got[1], from, at, types, MPI_COMM_WORLD,
                           &requests[2]));
  EXPECT_OK(MPI_Ialltoallv(&none, at, at, MPI_INT, &nowhere, at, at, MPI_INT, MPI_COMM_WORLD,
                           &requests[3]));
  EXPECT_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i)
    EXPECT(got[i] == 50 + (rank + ranks - 1) % ranks, "block %d is %d", i, got[i]);
  EXPECT(nowhere == -1, "bytes came from nowhere");
}

static int handler_calls;
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handler_calls;
}

/* What is wrong comes out in the call, by the communicator's error handler. */
static void wrong_arguments(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Request request = MPI_REQUEST_NULL;
  Blocks b = make_blocks(20, 6);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  /* MPICH's wheel is built without a look at arguments. */
  const int looks = MPI_Send(b.out, -1, MPI_INT, MPI_PROC_NULL, 0, comm) != MPI_SUCCESS;
  handler_calls = 0;
  if (looks) {
    int code = MPI_Ialltoall(b.out, -1, MPI_INT, b.in, b.size, MPI_INT, comm, &request);
    EXPECT(class_of(code) == MPI_ERR_COUNT, "the error class is %d", class_of(code));
    EXPECT(handler_calls == 1, "the handler was called %d times", handler_calls);
  }
  begin(&b, comm, &request);
  EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_blocks(&b, 6);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

static void two_groups(void) {
  MPI_Comm half, both;
  MPI_Request request;
  const int upper = rank >= ranks / 2;
  const int others = upper ? ranks / 2 : ranks - ranks / 2;
  int out[kMost], in[kMost], counts[kMost], at[kMost];
  MPI_Datatype types[kMost];
  MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, 3, &both);
  for (int i = 0; i < others; ++i) counts[i] = 1, at[i] = i * (int)sizeof *in, types[i] = MPI_INT;
  for (int typed = 0; typed < 2; ++typed) {
    for (int i = 0; i < others; ++i) out[i] = rank * 100 + i, in[i] = -1;
    if (typed)
      EXPECT_OK(MPI_Ialltoallw(out, counts, at, types, in, counts, at, types, both, &request));
    else
      EXPECT_OK(MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, both, &request));
    EXPECT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < others; ++i) {
      const int want = ((upper ? 0 : ranks / 2) + i) * 100 + (upper ? rank - ranks / 2 : rank);
      EXPECT(in[i] == want, "%d came and not %d", in[i], want);
    }
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* What a status may say of a collective: no error, not cancelled. */
static void status(void) {
  MPI_Request request;
  MPI_Status status;
  int flag = 0, cancelled = -1;
  Blocks b = make_blocks(200, 7);
  begin(&b, MPI_COMM_WORLD, &request);
  while (!flag) EXPECT_OK(MPI_Request_get_status(request, &flag, &status));
  EXPECT(request != MPI_REQUEST_NULL, "a look took the request away");
  EXPECT_OK(MPI_Wait(&request, &status));
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(cancelled == 0, "it says that it was cancelled");
  EXPECT(request == MPI_REQUEST_NULL, "the request is still there");
  check_blocks(&b, 7);
}

static const Check checks[] = {
    {"one starts before the other", one_starts_before_the_other},
    {"many start before the others", many_start_before_the_others},
    {"away in a receive", away_in_a_receive},
    {"away in a barrier", away_in_a_barrier},
    {"two communicators crosswise", two_communicators_crosswise},
    {"communicators come and go", communicators_come_and_go},
    {"among blocking ones", among_blocking_ones},
    {"nothing or little", nothing_or_little},
    {"wrong arguments", wrong_arguments},
    {"two groups", two_groups},
    {"status", status},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = run_checks(argc, argv, checks, (int)(sizeof checks / sizeof *checks));
  MPI_Finalize();
  return failed;
}
