/* Collectives of argument_fuzz. */
#pragma once

#include <string.h>

enum { BLOCK = 3, MOST = 64, COMMS = 5 };

typedef struct {
  int *out, *in;
  int out_count, in_count, *out_counts, *in_counts, *out_at, *in_at;
  MPI_Datatype out_type, in_type, *out_types, *in_types;
  MPI_Comm comm;
  MPI_Request* request;
} Arguments;

enum {
  LEGAL,
  OUT_TYPE,
  IN_TYPE,
  OUT_LOOSE,
  IN_LOOSE,
  OUT_NEGATIVE,
  IN_NEGATIVE,
  ALONE_TO,
  NO_COMM = ALONE_TO,
  IN_PLACE,
  IN_PLACE_GARBAGE,
  RECEIVE_IN_PLACE,
  NOTHING,
  NOTHING_NULL,
  NO_MEMORY,
  SAME,
  NO_REQUEST,
  KINDS
};
static const char* const kind_names[] = {"legal",
                                         "no send type",
                                         "no receive type",
                                         "send type not committed",
                                         "receive type not committed",
                                         "negative send count",
                                         "negative receive count",
                                         "no communicator",
                                         "in place",
                                         "in place, garbage beside it",
                                         "received in place",
                                         "no elements",
                                         "no elements of no type",
                                         "no memory",
                                         "the same buffer",
                                         "no request"};

static MPI_Comm comms[COMMS]; /* world, grid, graph, self, two groups */
static MPI_Datatype loose;
static int out[MOST * BLOCK], in[MOST * BLOCK];
static int counts[2][MOST], at[MOST];
static MPI_Aint wide_at[MOST];
static MPI_Datatype types[2][MOST];

static void begin_exchanges(void) {
  const int no = 0;
  const int from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks;
  MPI_Comm half;
  MPI_Type_contiguous(1, MPI_INT, &loose);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &no, 0, &comms[1]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comms[2]);
  MPI_Comm_dup(MPI_COMM_SELF, &comms[3]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &comms[4]);
  MPI_Comm_free(&half);
  for (int i = 0; i < COMMS; ++i) MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
}

static void end_exchanges(void) {
  for (int i = 0; i < COMMS; ++i) MPI_Comm_free(&comms[i]);
  MPI_Type_free(&loose);
}

static Arguments legal(MPI_Comm comm) {
  for (int i = 0; i < MOST * BLOCK; ++i) out[i] = rank * 1000 + i, in[i] = -1;
  for (int r = 0; r < MOST; ++r) {
    counts[0][r] = counts[1][r] = BLOCK;
    at[r] = r * BLOCK;
    types[0][r] = types[1][r] = MPI_INT;
  }
  return (Arguments){out, in,      BLOCK,   BLOCK,    counts[0], counts[1], at,
                     at,  MPI_INT, MPI_INT, types[0], types[1],  comm,      NULL};
}

static void all_counts(int side, int count) {
  for (int r = 0; r < MOST; ++r) counts[side][r] = count;
}

static void all_types(int side, MPI_Datatype type) {
  for (int r = 0; r < MOST; ++r) types[side][r] = type;
}

static void set_types(Arguments* a, int side, MPI_Datatype type) {
  *(side ? &a->in_type : &a->out_type) = type;
  all_types(side, type);
}

static void set_counts(Arguments* a, int side, int count) {
  *(side ? &a->in_count : &a->out_count) = count;
  all_counts(side, count);
}

static void spoil(Arguments* a, int kind) {
  const int nothing = kind == NOTHING || kind == NOTHING_NULL;
  if (kind == OUT_TYPE || kind == OUT_LOOSE)
    set_types(a, 0, kind == OUT_TYPE ? MPI_DATATYPE_NULL : loose);
  if (kind == IN_TYPE || kind == IN_LOOSE)
    set_types(a, 1, kind == IN_TYPE ? MPI_DATATYPE_NULL : loose);
  if (kind == OUT_NEGATIVE) set_counts(a, 0, -2);
  if (kind == IN_NEGATIVE) set_counts(a, 1, -2);
  if (kind == NO_COMM) a->comm = MPI_COMM_NULL;
  if (kind == IN_PLACE || kind == IN_PLACE_GARBAGE) a->out = MPI_IN_PLACE;
  if (kind == IN_PLACE_GARBAGE) a->out_count = -5, a->out_type = MPI_DATATYPE_NULL;
  if (kind == RECEIVE_IN_PLACE) a->in = MPI_IN_PLACE;
  for (int side = 0; side < 2 && nothing; ++side) {
    set_counts(a, side, 0);
    if (kind == NOTHING_NULL) set_types(a, side, MPI_DATATYPE_NULL);
  }
  if (nothing || kind == NO_MEMORY) a->out = a->in = NULL;
  if (kind == SAME) {
    a->out = a->in;
    a->out_counts = a->in_counts;
    a->out_types = a->in_types;
  }
  if (kind == NO_REQUEST) a->request = NULL;
}

enum {
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  ALLGATHER,
  ALLGATHERV,
  NEAR_ALLTOALL,
  NEAR_ALLTOALLV,
  NEAR_ALLTOALLW,
  NEAR_ALLGATHER,
  NEAR_ALLGATHERV,
  BLOCKING,
  IALLTOALL = BLOCKING,
  IALLTOALLV,
  IALLTOALLW,
  NEAR_IALLTOALL,
  NEAR_IALLTOALLV,
  NEAR_IALLTOALLW,
  FUNCTIONS
};
static const char* const function_names[] = {"MPI_Alltoall",
                                             "MPI_Alltoallv",
                                             "MPI_Alltoallw",
                                             "MPI_Allgather",
                                             "MPI_Allgatherv",
                                             "MPI_Neighbor_alltoall",
                                             "MPI_Neighbor_alltoallv",
                                             "MPI_Neighbor_alltoallw",
                                             "MPI_Neighbor_allgather",
                                             "MPI_Neighbor_allgatherv",
                                             "MPI_Ialltoall",
                                             "MPI_Ialltoallv",
                                             "MPI_Ialltoallw",
                                             "MPI_Ineighbor_alltoall",
                                             "MPI_Ineighbor_alltoallv",
                                             "MPI_Ineighbor_alltoallw"};

static int is_near(int f) { return (f >= NEAR_ALLTOALL && f < BLOCKING) || f >= NEAR_IALLTOALL; }
static int is_wide(int f) {
  return f == ALLTOALLW || f == NEAR_ALLTOALLW || f == IALLTOALLW || f == NEAR_IALLTOALLW;
}
static int is_gather(int f) {
  return f == ALLGATHER || f == ALLGATHERV || f == NEAR_ALLGATHER || f == NEAR_ALLGATHERV;
}

static int call_blocking(int f, const Arguments* a) {
  switch (f) {
    case ALLTOALL:
      return MPI_Alltoall(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type,
                          a->comm);
    case ALLTOALLV:
      return MPI_Alltoallv(a->out, a->out_counts, a->out_at, a->out_type, a->in, a->in_counts,
                           a->in_at, a->in_type, a->comm);
    case ALLTOALLW:
      return MPI_Alltoallw(a->out, a->out_counts, a->out_at, a->out_types, a->in, a->in_counts,
                           a->in_at, a->in_types, a->comm);
    case ALLGATHER:
      return MPI_Allgather(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type,
                           a->comm);
    case ALLGATHERV:
      return MPI_Allgatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts, a->in_at,
                            a->in_type, a->comm);
    case NEAR_ALLTOALL:
      return MPI_Neighbor_alltoall(a->out, a->out_count, a->out_type, a->in, a->in_count,
                                   a->in_type, a->comm);
    case NEAR_ALLTOALLV:
      return MPI_Neighbor_alltoallv(a->out, a->out_counts, a->out_at, a->out_type, a->in,
                                    a->in_counts, a->in_at, a->in_type, a->comm);
    case NEAR_ALLTOALLW:
      return MPI_Neighbor_alltoallw(a->out, a->out_counts, wide_at, a->out_types, a->in,
                                    a->in_counts, wide_at, a->in_types, a->comm);
    case NEAR_ALLGATHER:
      return MPI_Neighbor_allgather(a->out, a->out_count, a->out_type, a->in, a->in_count,
                                    a->in_type, a->comm);
    default:
      return MPI_Neighbor_allgatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts,
                                     a->in_at, a->in_type, a->comm);
  }
}

static int call_later(int f, const Arguments* a) {
  switch (f) {
    case IALLTOALL:
      return MPI_Ialltoall(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type,
                           a->comm, a->request);
    case IALLTOALLV:
      return MPI_Ialltoallv(a->out, a->out_counts, a->out_at, a->out_type, a->in, a->in_counts,
                            a->in_at, a->in_type, a->comm, a->request);
    case IALLTOALLW:
      return MPI_Ialltoallw(a->out, a->out_counts, a->out_at, a->out_types, a->in, a->in_counts,
                            a->in_at, a->in_types, a->comm, a->request);
    case NEAR_IALLTOALL:
      return MPI_Ineighbor_alltoall(a->out, a->out_count, a->out_type, a->in, a->in_count,
                                    a->in_type, a->comm, a->request);
    case NEAR_IALLTOALLV:
      return MPI_Ineighbor_alltoallv(a->out, a->out_counts, a->out_at, a->out_type, a->in,
                                     a->in_counts, a->in_at, a->in_type, a->comm, a->request);
    default:
      return MPI_Ineighbor_alltoallw(a->out, a->out_counts, wide_at, a->out_types, a->in,
                                     a->in_counts, wide_at, a->in_types, a->comm, a->request);
  }
}

static int call(int f, Arguments* a, int kind) {
  if (f < BLOCKING) return call_blocking(f, a);
  MPI_Request request = MPI_REQUEST_NULL;
  if (kind != NO_REQUEST) a->request = &request;
  const int code = call_later(f, a);
  return code != MPI_SUCCESS || kind == NO_REQUEST ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What a library checks, so that it neither crashes nor waits. */
static int is_safe(int f, int kind, int comm) {
#ifdef OPEN_MPI
  const int open_mpi = 1;
#else
  const int open_mpi = 0;
#endif
  const int in_place = kind == IN_PLACE || kind == IN_PLACE_GARBAGE;
  /* Open MPI 4.1 looks into no communicator and takes counts below 0. */
  const int rough = kind == NO_COMM || kind == OUT_NEGATIVE || kind == IN_NEGATIVE;
  if (open_mpi && ((is_gather(f) && rough) || f == NEAR_IALLTOALLW)) return 0;
  if (comm == 4 && kind != LEGAL && kind != NO_COMM) return 0;
  if (in_place && (is_near(f) || comm == 4 || f >= BLOCKING)) return 0;
  if (kind == IN_PLACE_GARBAGE && !is_gather(f)) return 0;
  if (kind == NO_MEMORY || kind == SAME) return !open_mpi && f <= ALLGATHERV && !is_gather(f);
  if (kind == RECEIVE_IN_PLACE) return f <= ALLGATHERV;
  if (kind == NO_REQUEST) return !open_mpi && f >= BLOCKING;
  if (is_near(f)) return kind == LEGAL || kind == NO_COMM || kind == NOTHING;
  return 1;
}

static void fuzz_exchange(void) {
  int f, kind, comm;
  do {
    f = draw(FUNCTIONS), kind = draw(3) ? draw(KINDS) : LEGAL;
    comm = is_near(f) ? 1 + draw(2) : draw(4) ? 0 : draw(COMMS);
  } while (!is_safe(f, kind, comm));
  const int alone = comm == 0 && kind > LEGAL && kind < ALONE_TO && draw(2);
  const int one = draw(ranks), calls = 1 + draw(3);
  for (int r = 0; r < MOST; ++r) {
    wide_at[r] = r * BLOCK * (MPI_Aint)sizeof(int);
  }
  for (int i = 0; i < calls; ++i) {
    Arguments a = legal(comms[comm]);
    if (is_wide(f))
      for (int r = 0; r < MOST; ++r) at[r] = (int)wide_at[r];
    if (!alone || rank == one) spoil(&a, kind);
    int code = call(f, &a, kind);
    fprintf(log_file, "on %d%s: ", comm, alone ? ", alone" : "");
    told(function_names[f], kind_names[kind], code, in, sizeof in);
    if (!alone || rank != one || code == MPI_SUCCESS) continue;
    a = legal(comms[comm]);
    if (is_wide(f))
      for (int r = 0; r < MOST; ++r) at[r] = (int)wide_at[r];
    code = call(f, &a, LEGAL);
    told(function_names[f], "right at last", code, in, sizeof in);
  }
}
