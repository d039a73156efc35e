#include <stdlib.h>
#include <string.h>

#include "random_calls.h"

/* Counts, places and bytes of a collective call: rank i's part has count + i % 3 * extra ints. */
struct Call {
  const struct Comm* c;
  int count, root, in_place;
  MPI_Op op;
  int *out, *in;
  int *counts, *places; /* of v-forms */
  int all;              /* ints of all parts together */
  size_t bytes;         /* of each buffer */
};

static int part(const struct Call* call, int rank) { return call->count + rank % 3; }

static struct Call begin_call(const struct Comm* c) {
  static const int counts[] = {0, 1, 2, 2, 30, 257, 3000, 20000};
  const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_MIN};
  struct Call call = {.c = c, .count = counts[draw(8)]};
  call.root = draw(c->size);
  call.in_place = SOMETIMES(4);
  call.op = ops[draw(4)];
  const int most = c->size > c->peers ? c->size : c->peers;
  call.counts = room(sizeof(int) * (size_t)most);
  call.places = room(sizeof(int) * (size_t)most);
  for (int i = 0; i < most; ++i) {
    call.counts[i] = part(&call, i);
    call.places[i] = call.all;
    call.all += call.counts[i] + i % 2;
  }
  call.bytes = ((size_t)(call.count + 3) * (size_t)most + (size_t)call.all) * sizeof(int);
  call.out = room(call.bytes);
  call.in = room(call.bytes);
  fill(call.out, call.bytes, (unsigned)c->rank + 11);
  return call;
}

static void end_call(struct Call* call) {
  take(call->in, call->bytes);
  free(call->out);
  free(call->in);
  free(call->counts);
  free(call->places);
}

/* In a rooted call with MPI_IN_PLACE at the root. */
static int here(const struct Call* call) { return call->in_place && call->c->rank == call->root; }

enum Kind {
  kBarrier,
  kBcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduce,
  kAllreduce,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
};

static void blocking(enum Kind kind, struct Call* a) {
  const MPI_Comm comm = a->c->comm;
  const int n = a->count, root = a->root;
  int *const out = a->out, *const in = a->in;
  switch (kind) {
    case kBarrier:
      MPI_Barrier(comm);
      break;
    case kBcast:
      MPI_Bcast(a->c->rank == root ? memcpy(in, out, a->bytes) : in, n, MPI_INT, root, comm);
      break;
    case kGather:
      MPI_Gather(here(a) ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT, root, comm);
      break;
    case kScatter:
      MPI_Scatter(out, n, MPI_INT, here(a) ? MPI_IN_PLACE : (void*)in, n, MPI_INT, root, comm);
      break;
    case kAllgather:
      MPI_Allgather(a->in_place ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT, comm);
      break;
    case kAlltoall:
      if (a->in_place) memcpy(in, out, a->bytes);
      MPI_Alltoall(a->in_place ? MPI_IN_PLACE : out, n, MPI_INT, in, n, MPI_INT, comm);
      break;
    case kReduce:
      MPI_Reduce(here(a) ? MPI_IN_PLACE : out, in, n, MPI_INT, a->op, root, comm);
      break;
    case kAllreduce:
      MPI_Allreduce(a->in_place ? MPI_IN_PLACE : out, in, n, MPI_INT, a->op, comm);
      break;
    case kReduceScatterBlock:
      MPI_Reduce_scatter_block(out, in, n, MPI_INT, a->op, comm);
      break;
    case kScan:
      MPI_Scan(a->in_place ? MPI_IN_PLACE : out, in, n, MPI_INT, a->op, comm);
      break;
    default:
      MPI_Exscan(out, in, n, MPI_INT, a->op, comm);
      if (a->c->rank == 0) memset(in, 0, a->bytes); /* undefined there */
  }
}

static void begun(enum Kind kind, struct Call* a, MPI_Request* r) {
  const MPI_Comm comm = a->c->comm;
  const int n = a->count, root = a->root;
  int *const out = a->out, *const in = a->in;
  switch (kind) {
    case kBarrier:
      MPI_Ibarrier(comm, r);
      break;
    case kBcast:
      MPI_Ibcast(a->c->rank == root ? memcpy(in, out, a->bytes) : in, n, MPI_INT, root, comm, r);
      break;
    case kGather:
      MPI_Igather(out, n, MPI_INT, in, n, MPI_INT, root, comm, r);
      break;
    case kScatter:
      MPI_Iscatter(out, n, MPI_INT, in, n, MPI_INT, root, comm, r);
      break;
    case kAllgather:
      MPI_Iallgather(out, n, MPI_INT, in, n, MPI_INT, comm, r);
      break;
    case kAlltoall:
      MPI_Ialltoall(out, n, MPI_INT, in, n, MPI_INT, comm, r);
      break;
    case kReduce:
      MPI_Ireduce(out, in, n, MPI_INT, a->op, root, comm, r);
      break;
    case kAllreduce:
      MPI_Iallreduce(out, in, n, MPI_INT, a->op, comm, r);
      break;
    case kReduceScatterBlock:
      MPI_Ireduce_scatter_block(out, in, n, MPI_INT, a->op, comm, r);
      break;
    case kScan:
      MPI_Iscan(out, in, n, MPI_INT, a->op, comm, r);
      break;
    default:
      MPI_Iexscan(out, in, n, MPI_INT, a->op, comm, r);
  }
}

#if HAS_MPI4_CALLS
static void kept(enum Kind kind, struct Call* a, MPI_Request* r) {
  const MPI_Comm comm = a->c->comm;
  const MPI_Info none = MPI_INFO_NULL;
  const int n = a->count, root = a->root;
  int *const out = a->out, *const in = a->in;
  switch (kind) {
    case kBarrier:
      MPI_Barrier_init(comm, none, r);
      break;
    case kBcast:
      MPI_Bcast_init(a->c->rank == root ? memcpy(in, out, a->bytes) : in, n, MPI_INT, root, comm,
                     none, r);
      break;
    case kGather:
      MPI_Gather_init(out, n, MPI_INT, in, n, MPI_INT, root, comm, none, r);
      break;
    case kScatter:
      MPI_Scatter_init(out, n, MPI_INT, in, n, MPI_INT, root, comm, none, r);
      break;
    case kAllgather:
      MPI_Allgather_init(out, n, MPI_INT, in, n, MPI_INT, comm, none, r);
      break;
    case kAlltoall:
      MPI_Alltoall_init(out, n, MPI_INT, in, n, MPI_INT, comm, none, r);
      break;
    case kReduce:
      MPI_Reduce_init(out, in, n, MPI_INT, a->op, root, comm, none, r);
      break;
    case kAllreduce:
      MPI_Allreduce_init(out, in, n, MPI_INT, a->op, comm, none, r);
      break;
    case kReduceScatterBlock:
      MPI_Reduce_scatter_block_init(out, in, n, MPI_INT, a->op, comm, none, r);
      break;
    case kScan:
      MPI_Scan_init(out, in, n, MPI_INT, a->op, comm, none, r);
      break;
    default:
      MPI_Exscan_init(out, in, n, MPI_INT, a->op, comm, none, r);
  }
}
#endif

void step_collectives(const struct Comm* c) {
  const int calls = 1 + draw(3);
  for (int i = 0; i < calls; ++i) {
    struct Call call = begin_call(c);
    blocking((enum Kind)draw(kKinds), &call);
    end_call(&call);
  }
}

void step_nonblocking(const struct Comm* c) {
  enum { kMost = 3 };
  struct Call calls[kMost];
  MPI_Request requests[kMost];
  const int n = 1 + draw(kMost), way = draw(3);
  enum Kind kind = kBarrier;
  int flag = 0, index;
  for (int i = 0; i < n; ++i) {
    calls[i] = begin_call(c);
    kind = (enum Kind)draw(kKinds);
    begun(kind, &calls[i], &requests[i]);
    if (kind == kExscan && c->rank == 0) calls[i].bytes = 0;
  }
  if (way == 0) {
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  } else if (way == 1) {
    for (int i = 0; i < n; ++i) MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
  } else {
    for (int i = 0; i < n; ++i)
      for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < n; ++i) end_call(&calls[i]);
}

void step_kept_collectives(const struct Comm* c) {
#if HAS_MPI4_CALLS
  struct Call call = begin_call(c);
  MPI_Request request;
  const int rounds = 1 + draw(3), kind = draw(kKinds);
  kept((enum Kind)kind, &call, &request);
  for (int i = 0; i < rounds; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
  if (kind == kExscan && c->rank == 0) call.bytes = 0;
  end_call(&call);
#else
  (void)c;
#endif
}

/* Where each rank's part has a length of its own. */
void step_varying(const struct Comm* c) {
  struct Call a = begin_call(c);
  const MPI_Comm comm = c->comm;
  const int mine = part(&a, c->rank), *const counts = a.counts, *const places = a.places;
  int* const same = room(sizeof(int) * (size_t)c->size);
  MPI_Datatype* const types = room(sizeof *types * (size_t)c->size);
  int* const bytes = room(sizeof(int) * (size_t)c->size);
  MPI_Request request = MPI_REQUEST_NULL;
  /* Rank r gets part(r) of each, in an all-to-all: what it sends to i is part(i). */
  for (int i = 0; i < c->size; ++i) {
    same[i] = mine;
    types[i] = MPI_INT;
    bytes[i] = i * (a.count + 3) * (int)sizeof(int);
  }
  int* const spread = room(sizeof(int) * (size_t)c->size);
  for (int i = 0; i < c->size; ++i) spread[i] = i * (a.count + 3);
  const int root = a.root;
  switch (draw(12)) {
    case 0:
      MPI_Gatherv(a.out, mine, MPI_INT, a.in, counts, places, MPI_INT, root, comm);
      break;
    case 1:
      MPI_Scatterv(a.out, counts, places, MPI_INT, a.in, mine, MPI_INT, root, comm);
      break;
    case 2:
      MPI_Allgatherv(a.out, mine, MPI_INT, a.in, counts, places, MPI_INT, comm);
      break;
    case 3:
      MPI_Alltoallv(a.out, counts, places, MPI_INT, a.in, same, spread, MPI_INT, comm);
      break;
    case 4:
      MPI_Alltoallw(a.out, counts, bytes, types, a.in, same, bytes, types, comm);
      break;
    case 5:
      MPI_Reduce_scatter(a.out, a.in, counts, MPI_INT, a.op, comm);
      break;
    case 6:
      MPI_Igatherv(a.out, mine, MPI_INT, a.in, counts, places, MPI_INT, root, comm, &request);
      break;
    case 7:
      MPI_Iscatterv(a.out, counts, places, MPI_INT, a.in, mine, MPI_INT, root, comm, &request);
      break;
    case 8:
      MPI_Iallgatherv(a.out, mine, MPI_INT, a.in, counts, places, MPI_INT, comm, &request);
      break;
    case 9:
      MPI_Ialltoallv(a.out, counts, places, MPI_INT, a.in, same, spread, MPI_INT, comm, &request);
      break;
    case 10:
      MPI_Ialltoallw(a.out, counts, bytes, types, a.in, same, bytes, types, comm, &request);
      break;
    default:
      MPI_Ireduce_scatter(a.out, a.in, counts, MPI_INT, a.op, comm, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(same);
  free(types);
  free(bytes);
  free(spread);
  end_call(&a);
}

/* Of a graph or grid; where it has no neighbour on a side, nothing comes from there. */
void step_neighbours(const struct Comm* c) {
  int sources = 0, targets = 0, weighted;
  if (c->shape == kCart) {
    MPI_Cartdim_get(c->comm, &sources);
    targets = sources *= 2;
  } else if (c->shape == kGraph) {
    MPI_Graph_neighbors_count(c->comm, c->rank, &sources);
    targets = sources;
  } else {
    MPI_Dist_graph_neighbors_count(c->comm, &sources, &targets, &weighted);
  }
  static const int counts[] = {1, 4, 100, 5000};
  const int n = counts[draw(4)], most = sources > targets ? sources : targets;
  const size_t bytes = (size_t)(n * (most + 1)) * sizeof(int);
  int *const out = room(bytes), *const in = room(bytes);
  int* const of_each = room(sizeof(int) * (size_t)(most + 1));
  int* const places = room(sizeof(int) * (size_t)(most + 1));
  MPI_Aint* const at = room(sizeof *at * (size_t)(most + 1));
  MPI_Datatype* const types = room(sizeof *types * (size_t)(most + 1));
  fill(out, bytes, (unsigned)c->rank);
  for (int i = 0; i < most; ++i) {
    of_each[i] = n;
    places[i] = n * i;
    at[i] = (MPI_Aint)(sizeof(int) * (size_t)(n * i));
    types[i] = MPI_INT;
  }
  MPI_Request r = MPI_REQUEST_NULL;
  const MPI_Comm comm = c->comm;
  const MPI_Datatype t = MPI_INT;
  switch (draw(9)) {
    case 0:
      MPI_Neighbor_allgather(out, n, t, in, n, t, comm);
      break;
    case 1:
      MPI_Neighbor_alltoall(out, n, t, in, n, t, comm);
      break;
    case 2:
      MPI_Neighbor_allgatherv(out, n, t, in, of_each, places, t, comm);
      break;
    case 3:
      MPI_Neighbor_alltoallv(out, of_each, places, t, in, of_each, places, t, comm);
      break;
    case 4:
      MPI_Neighbor_alltoallw(out, of_each, at, types, in, of_each, at, types, comm);
      break;
    case 5:
      MPI_Ineighbor_allgather(out, n, t, in, n, t, comm, &r);
      break;
    case 6:
      MPI_Ineighbor_alltoall(out, n, t, in, n, t, comm, &r);
      break;
    case 7:
      MPI_Ineighbor_allgatherv(out, n, t, in, of_each, places, t, comm, &r);
      break;
    default:
      MPI_Ineighbor_alltoallv(out, of_each, places, t, in, of_each, places, t, comm, &r);
  }
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  /* Which of two messages of the same rank is whose, not all libraries say alike. */
  for (int i = 0; i < sources; ++i) take(in + n * i, sizeof(int) * (size_t)n);
  free(out);
  free(in);
  free(of_each);
  free(places);
  free(at);
  free(types);
}

/* Of two groups. */
void step_between(const struct Comm* c) {
  struct Call a = begin_call(c);
  const int n = a.count;
  /* Ranks of the even group have 0 in the world among them. */
  const int has_root = world_rank % 2 == 0;
  const int root = !has_root ? 0 : c->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int* const buffer = root == MPI_ROOT ? memcpy(a.in, a.out, a.bytes) : a.in;
  switch (draw(8)) {
    case 0:
      MPI_Barrier(c->comm);
      break;
    case 1:
      MPI_Bcast(buffer, n, MPI_INT, root, c->comm);
      break;
    case 2:
      MPI_Allgather(a.out, n, MPI_INT, a.in, n, MPI_INT, c->comm);
      break;
    case 3:
      MPI_Alltoall(a.out, n, MPI_INT, a.in, n, MPI_INT, c->comm);
      break;
    case 4:
      MPI_Allreduce(a.out, a.in, n, MPI_INT, a.op, c->comm);
      break;
    case 5:
      MPI_Gather(a.out, n, MPI_INT, a.in, n, MPI_INT, root, c->comm);
      break;
    case 6:
      MPI_Ibcast(buffer, n, MPI_INT, root, c->comm, &request);
      break;
    default:
      MPI_Reduce(a.out, a.in, n, MPI_INT, a.op, root, c->comm);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  end_call(&a);
}

/* The forms for counts beyond an int, with small ones. */
void step_large_counts(const struct Comm* c) {
#if MPI_VERSION >= 4
  struct Call a = begin_call(c);
  const MPI_Count n = a.count;
  MPI_Request requests[2];
  int to, from;
  neighbours(c, 1, &to, &from);
  switch (draw(5)) {
    case 0:
      MPI_Allreduce_c(a.out, a.in, n, MPI_INT, a.op, c->comm);
      break;
    case 1:
      MPI_Alltoall_c(a.out, n, MPI_INT, a.in, n, MPI_INT, c->comm);
      break;
    case 2:
      MPI_Irecv_c(a.in, n, MPI_INT, from, 1, c->comm, &requests[0]);
      MPI_Isend_c(a.out, n, MPI_INT, to, 1, c->comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      break;
    case 3:
      MPI_Sendrecv_c(a.out, n, MPI_INT, to, 1, a.in, n, MPI_INT, from, 1, c->comm,
                     MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Bcast_c(c->rank == a.root ? memcpy(a.in, a.out, a.bytes) : a.in, n, MPI_INT, a.root,
                  c->comm);
  }
  end_call(&a);
#else
  (void)c;
#endif
}
