/* Legal calls with arguments that the standard or the library ignores, under MPI_ERRORS_ARE_FATAL.
 *
 *   mpiexec -n N ignored_arguments [nothing]
 * Each call is made CALLS times and its bytes are looked at. With "nothing", blocks of no elements
 * have MPI_DATATYPE_NULL in MPI_Alltoallw, which not every library takes. Prints "right" at the
 * end, or what is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 9, MOST = 64, BLOCK = 3 };

static int rank, ranks, wrong;
static int sent[MOST * BLOCK], got[MOST * BLOCK], counts[MOST], at[MOST], bytes_at[MOST];
static MPI_Datatype types[MOST];

static int value(int from, int to, int i) { return from * 1000 + to * 10 + i; }

static void fill(void) {
  memset(got, 0xee, sizeof got);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < BLOCK; ++i) sent[r * BLOCK + i] = value(rank, r, i);
}

static void expect(const char* what, int from, int to) {
  for (int i = 0; i < BLOCK; ++i)
    if (got[from * BLOCK + i] != value(from, to, i) && !wrong++)
      printf("rank %d: %s: the block from %d is wrong\n", rank, what, from);
}

static void own_block_in_place(void) {
  fill();
  for (int i = 0; i < BLOCK; ++i) got[rank * BLOCK + i] = value(rank, 0, i);
}

/* A count and a datatype that nobody may look at. */
static void gather_in_place(int count, MPI_Datatype type) {
  own_block_in_place();
  MPI_Allgather(MPI_IN_PLACE, count, type, got, BLOCK, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) expect("MPI_Allgather", r, 0);
  own_block_in_place();
  MPI_Allgatherv(MPI_IN_PLACE, count, type, got, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) expect("MPI_Allgatherv", r, 0);
}

static void exchange_in_place(MPI_Datatype type) {
  fill();
  memcpy(got, sent, sizeof got);
  MPI_Alltoall(MPI_IN_PLACE, -3, type, got, BLOCK, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) expect("MPI_Alltoall in place", r, rank);
  fill();
  memcpy(got, sent, sizeof got);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, type, got, counts, at, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) expect("MPI_Alltoallv in place", r, rank);
}

/* Only ranks whose numbers have an even sum have something for each other; `nothing` is the
 * datatype of the rest. */
static void exchange_some(MPI_Datatype nothing, int later) {
  int some[MOST];
  fill();
  for (int r = 0; r < ranks; ++r) {
    some[r] = (rank + r) % 2 == 0 ? BLOCK : 0;
    types[r] = some[r] ? MPI_INT : nothing;
  }
  if (later) {
    MPI_Request request;
    MPI_Ialltoallw(sent, some, bytes_at, types, got, some, bytes_at, types, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoallw(sent, some, bytes_at, types, got, some, bytes_at, types, MPI_COMM_WORLD);
  }
  for (int r = 0; r < ranks; ++r)
    if (some[r]) expect("MPI_Alltoallw", r, rank);
}

/* No memory where there are no bytes. */
static void exchange_nothing(void) {
  int none[MOST] = {0}, too[MOST] = {0}; /* MPICH takes the same array for the same buffer */
  MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(NULL, none, none, MPI_INT, NULL, too, too, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD);
}

/* Everything at addresses, from MPI_BOTTOM on. */
static void exchange_from_bottom(void) {
  MPI_Datatype send, receive;
  MPI_Aint out, in;
  MPI_Get_address(sent, &out);
  MPI_Get_address(got, &in);
  const int length = 1;
  MPI_Type_create_hindexed(1, &length, &out, MPI_INT, &send);
  MPI_Type_create_resized(send, 0, sizeof(int), &types[0]);
  MPI_Type_create_hindexed(1, &length, &in, MPI_INT, &receive);
  MPI_Type_create_resized(receive, 0, sizeof(int), &types[1]);
  MPI_Type_commit(&types[0]);
  MPI_Type_commit(&types[1]);
  fill();
  MPI_Alltoall(MPI_BOTTOM, BLOCK, types[0], MPI_BOTTOM, BLOCK, types[1], MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) expect("MPI_BOTTOM", r, rank);
  MPI_Type_free(&send);
  MPI_Type_free(&receive);
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = BLOCK;
    at[r] = r * BLOCK;
    bytes_at[r] = r * BLOCK * (int)sizeof(int);
  }
  int garbage[2] = {0};
  MPI_Datatype no_type = MPI_DATATYPE_NULL;
  memcpy(&no_type, garbage, sizeof no_type < sizeof garbage ? sizeof no_type : sizeof garbage);
  const MPI_Datatype nothing =
      argc > 1 && !strcmp(argv[1], "nothing") ? MPI_DATATYPE_NULL : MPI_INT;
  for (int call = 0; call < CALLS; ++call) {
    gather_in_place(0, MPI_DATATYPE_NULL);
    gather_in_place(-7, no_type);
    exchange_in_place(MPI_DATATYPE_NULL);
    exchange_some(nothing, 0);
    exchange_some(nothing, 1);
    exchange_nothing();
    exchange_from_bottom();
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", all ? "wrong" : "right");
  MPI_Finalize();
  return 0;
}
