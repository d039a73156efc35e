/* Random nonblocking and persistent exchanges among neighbours, several at once, checked byte by
 * byte. Usage:
 *
 *   nonblocking_neighbour_cases SEED CASES [stock]
 *
 * Topologies, sizes and datatypes are drawn as in neighbour_cases; on each communicator some
 * exchanges are under way together, with messages of the program's own. Each rank draws for itself
 * by which functions it waits for all of these. In some cases the communicator is freed while they
 * are under way, and the datatypes always are. In others they are persistent and started several
 * times, in any order.
 *
 * Where a rank is a neighbour more than once, MPI libraries differ in which block becomes which.
 * There rank 0 prints "case SEED: bytes SUM", to be compared with that of a run without haichi,
 * with `stock`: what such a run cannot do, and what counts for no sum, is left out then.
 *
 * Prints "cases N wrong M" on rank 0; exit code 1 if anything was wrong. */
#include "exchange_neighbours.h"
#include "exchange_requests.h"

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, FUNCTIONS };
enum { EACH = 4, MESSAGES = 2, LENGTH = 5000 };

typedef struct {
  side_t send, receive;
  arguments_t as, ar; /* MPI wants them until the exchange is complete */
  unsigned char* expected;
  int function, large;
  MPI_Request request; /* if persistent */
} exchange_t;

/* What all ranks have drawn alike, and this rank's neighbours. */
typedef struct {
  MPI_Comm base, comm; /* all ranks of one, and with a topology */
  neighbours_t of;
  int me, topology, repeats;
  int librarys; /* some exchange may be one that haichi leaves to the MPI library */
  int persistent, each;
} case_t;

static int stock;
static exchange_t exchanges[EACH];
static int out[MESSAGES][LENGTH], in[MESSAGES][LENGTH];

#if MPI_VERSION >= 4
static int init(exchange_t* e, MPI_Comm comm) {
  const void* from = e->send.memory;
  void* to = e->receive.memory;
  const arguments_t *s = &e->as, *r = &e->ar;
  const MPI_Datatype ts = e->send.layouts[0].type, tr = e->receive.layouts[0].type;
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Request* made = &e->request;
  if (e->large) switch (e->function) {
      case ALLTOALL:
        return MPI_Neighbor_alltoall_init_c(from, s->counts[0], ts, to, r->counts[0], tr, comm,
                                            none, made);
      case ALLTOALLV:
        return MPI_Neighbor_alltoallv_init_c(from, s->large_counts, s->large_begins, ts, to,
                                             r->large_counts, r->large_begins, tr, comm, none,
                                             made);
      default:
        return MPI_Neighbor_alltoallw_init_c(from, s->large_counts, s->large_begins, s->types, to,
                                             r->large_counts, r->large_begins, r->types, comm, none,
                                             made);
    }
  switch (e->function) {
    case ALLTOALL:
      return MPI_Neighbor_alltoall_init(from, s->counts[0], ts, to, r->counts[0], tr, comm, none,
                                        made);
    case ALLTOALLV:
      return MPI_Neighbor_alltoallv_init(from, s->counts, s->begins, ts, to, r->counts, r->begins,
                                         tr, comm, none, made);
    default:
      return MPI_Neighbor_alltoallw_init(from, s->counts, s->large_begins, s->types, to, r->counts,
                                         r->large_begins, r->types, comm, none, made);
  }
}
#else
static int init(exchange_t* e, MPI_Comm comm) { return (void)e, (void)comm, MPI_SUCCESS; }
#endif

static int start(exchange_t* e, MPI_Comm comm, MPI_Request* request) {
  const void* from = e->send.memory;
  void* to = e->receive.memory;
  const arguments_t *s = &e->as, *r = &e->ar;
  const MPI_Datatype ts = e->send.layouts[0].type, tr = e->receive.layouts[0].type;
#if MPI_VERSION >= 4
  if (e->large) switch (e->function) {
      case ALLTOALL:
        return MPI_Ineighbor_alltoall_c(from, s->counts[0], ts, to, r->counts[0], tr, comm,
                                        request);
      case ALLTOALLV:
        return MPI_Ineighbor_alltoallv_c(from, s->large_counts, s->large_begins, ts, to,
                                         r->large_counts, r->large_begins, tr, comm, request);
      default:
        return MPI_Ineighbor_alltoallw_c(from, s->large_counts, s->large_begins, s->types, to,
                                         r->large_counts, r->large_begins, r->types, comm, request);
    }
#endif
  switch (e->function) {
    case ALLTOALL:
      return MPI_Ineighbor_alltoall(from, s->counts[0], ts, to, r->counts[0], tr, comm, request);
    case ALLTOALLV:
      return MPI_Ineighbor_alltoallv(from, s->counts, s->begins, ts, to, r->counts, r->begins, tr,
                                     comm, request);
    default:
      return MPI_Ineighbor_alltoallw(from, s->counts, s->large_begins, s->types, to, r->counts,
                                     r->large_begins, r->types, comm, request);
  }
}

/* Every rank can tell the size of any block: those between two ranks are alike. `shape` of the
   sizes: 0 equal, 1 mostly none, else different. */
static int size_of(int shape, int equal, int most, uint64_t sizes, int from, int to) {
  if (shape == 0) return equal;
  if (from == MPI_PROC_NULL || to == MPI_PROC_NULL) return below(&sizes, 3);
  uint64_t draw = sizes + (uint64_t)(from * MOST_RANKS + to);
  return shape == 1 && below(&draw, 3) ? 0 : below(&draw, most);
}

static void make_exchange(exchange_t* e, const case_t* c, uint64_t* common, uint64_t* own) {
  side_t *s = &e->send, *r = &e->receive;
  e->function = below(common, FUNCTIONS);
  e->large = below(common, 4) == 0;
#ifndef OPEN_MPI
  /* MPICH 4.0.2 takes wrong counts where a rank has more sources than destinations, or fewer. */
  if (c->librarys && e->function == ALLTOALLW && c->topology >= EDGES) e->function = ALLTOALLV;
#endif
  const int most = below(common, 6) == 0 ? 7000 : 12, equal = below(common, most);
  const int shape = e->function == ALLTOALL ? 0 : below(common, 4);
  const uint64_t sizes = next(common);
  draw_layouts(s, own);
  draw_layouts(r, own);
  s->blocks = c->of.out;
  r->blocks = c->of.in;
  s->typed = r->typed = e->function == ALLTOALLW;
  s->counts[0] = r->counts[0] = equal; /* of whom no neighbour has */
  for (int i = 0; i < s->blocks; ++i)
    s->counts[i] = size_of(shape, equal, most, sizes, c->me, c->of.destinations[i]);
  for (int i = 0; i < r->blocks; ++i)
    r->counts[i] = size_of(shape, equal, most, sizes, c->of.sources[i], c->me);
  make_side(s, e->function != ALLTOALL, own);
  make_side(r, e->function != ALLTOALL, own);
  e->expected = malloc(r->size);
  e->as = arguments_of(s);
  e->ar = arguments_of(r);
}

static void free_types_of(exchange_t* e) {
  free_types(&e->send);
  free_types(&e->receive);
}

/* Starts everything; returns how many calls went wrong. */
static int start_all(const case_t* c, int round, MPI_Request* requests, uint64_t* own) {
  const int turned = c->persistent ? below(own, c->each) : 0;
  int wrong = 0;
  for (int i = 0; i < MESSAGES; ++i)
    start_message(i, c->base, out[i], in[i], LENGTH, &requests[c->each + 2 * i]);
  for (int i = 0; i < c->each; ++i) {
    const int number = (i + turned) % c->each, call = number + 31 * round;
    exchange_t* e = &exchanges[number];
    fill_sent(&e->send, &c->of, 0, c->me, call);
    fill_received(&e->receive, &c->of, 0, c->me, call);
    memcpy(e->expected, e->receive.memory, e->receive.size);
    memset(e->receive.memory, CANARY, e->receive.size);
    if (c->persistent) {
      requests[i] = e->request;
      wrong += (number % 2 ? MPI_Start(&requests[i]) : MPI_Startall(1, &requests[i])) != 0;
    } else {
      wrong += start(e, c->comm, &requests[i]) != MPI_SUCCESS;
      free_types_of(e);
    }
  }
  return wrong;
}

static int check_all(const case_t* c, uint64_t* sum) {
  int wrong = 0;
  for (int i = 0; i < c->each; ++i) {
    const exchange_t* e = &exchanges[i];
    for (size_t k = 0; k < e->receive.size; ++k) {
      wrong += !c->repeats && e->receive.memory[k] != e->expected[k];
      if (c->repeats) *sum = *sum * 31 + e->receive.memory[k];
    }
  }
  for (int m = 0; m < MESSAGES; ++m) wrong += check_message(m, c->base, in[m], LENGTH);
  return wrong;
}

static int run_exchanges(case_t* c, int early, uint64_t* common, uint64_t* own, uint64_t* sum) {
  int wrong = 0;
  for (int i = 0; i < c->each; ++i) {
    exchange_t* e = &exchanges[i];
    make_exchange(e, c, common, own);
    if (!c->persistent) continue;
    wrong += init(e, c->comm) != MPI_SUCCESS;
    free_types_of(e);
  }
  for (int round = 0; round < (c->persistent ? 3 : 1); ++round) {
    MPI_Request requests[MOST_REQUESTS];
    wrong += start_all(c, round, requests, own);
    if (early && round == 0) MPI_Comm_free(&c->comm);
    wrong += wait_for(c->each + 2 * MESSAGES, requests, own);
    wrong += check_all(c, sum);
  }
  for (int i = 0; i < c->each; ++i) {
    exchange_t* e = &exchanges[i];
    if (c->persistent) MPI_Request_free(&e->request);
    free(e->expected);
    free(e->send.memory);
    free(e->receive.memory);
  }
  return wrong;
}

/* One case; returns how many bytes or calls were wrong on this rank. */
static int run_case(uint64_t seed, int rank, int ranks) {
  uint64_t common = seed, own = seed * 1000003 + (uint64_t)rank;
  const int kind = below(&common, 4);
  MPI_Comm made;
  case_t c = {.base = make_comm(kind, rank, ranks),
              .topology = below(&common, TOPOLOGIES),
              .each = 1 + below(&common, EACH)};
#ifdef OPEN_MPI
  /* Open MPI 4.1.4 hangs in MPI_Dist_graph_create now and then, without haichi too. */
  if (c.topology == EDGES) c.topology = ADJACENT;
#endif
  /* In which order MPI_Dist_graph_create lists neighbours may change from run to run, and Open MPI
     4.1.4 ends nonblocking exchanges with MPI_ERR_TRUNCATE if a distributed graph has repeats. */
  const int repeats = below(&common, 4) == 0 && c.topology < EDGES;
  made = make_topology(c.topology, c.base, repeats, &common);
  c.comm = made;
  /* Duplicates have the topology too. */
  const int twice = below(&common, 3) == 0;
  if (twice) MPI_Comm_dup(made, &c.comm);
  MPI_Comm_rank(c.comm, &c.me);
  c.of = neighbours_of(c.comm, c.topology, c.me);
  c.repeats = repeated_anywhere(&c.of, c.base);
  c.librarys = c.repeats || kind == 2 || ranks == 1; /* halves may be on one node */
#if MPI_VERSION >= 4
  /* MPICH 4.0.2 tells of its own persistent collectives again and again. */
  c.persistent = below(&common, 3) == 0 && !c.librarys;
#endif
  /* Open MPI ends the program if a communicator with a nonblocking collective of its own is
     freed. */
  const int early = below(&common, 2) && !c.librarys;
  const int left_out = stock && !c.repeats;
  uint64_t sum = 0;
  const int wrong = left_out ? 0 : run_exchanges(&c, early, &common, &own, &sum);
  print_sum(seed, sum);
  if (!early || left_out) MPI_Comm_free(&c.comm);
  if (twice) MPI_Comm_free(&made);
  if (c.base != MPI_COMM_WORLD) MPI_Comm_free(&c.base);
  return wrong;
}

int main(int argc, char** argv) {
  stock = argc > 3;
  return run_cases(argc, argv, run_case);
}
