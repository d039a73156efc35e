/* Random nonblocking and persistent all-to-all exchanges, many at once, checked byte by byte.
 * Usage:
 *
 *   nonblocking_exchange_cases SEED CASES
 *
 * Each case draws, alike on all ranks: some communicators (all ranks, halves, all in reverse,
 * duplicates) and for each a list of exchanges, with sizes and datatypes as in exchange_cases; some
 * are in place or barriers, which are the MPI library's. Each rank draws for itself: in which order
 * it starts those of different communicators, whether it frees communicators and datatypes that are
 * in use, messages of its own between them, and by which functions it waits for all of these. In
 * some cases the exchanges are persistent and started several times, in any order.
 *
 * Prints "cases N wrong M" on rank 0; exit code 1 if anything was wrong. */
#include "exchange_blocks.h"
#include "exchange_requests.h"

enum { COMMS = 3, EACH = 4, MESSAGES = 4 };
enum { ALLTOALL, ALLTOALLV, ALLTOALLW, FUNCTIONS };

typedef struct {
  side_t send, receive;
  arguments_t as, ar; /* MPI wants them until the exchange is complete */
  unsigned char* expected;
  int function, large, barrier, in_place, persistent;
  int me, n, number;
  MPI_Request request; /* if persistent */
} exchange_t;

#if MPI_VERSION >= 4
static int init(exchange_t* e, MPI_Comm comm) {
  const void* from = e->send.memory;
  void* to = e->receive.memory;
  const arguments_t *s = &e->as, *r = &e->ar;
  const MPI_Datatype ts = s->types[0], tr = r->types[0];
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Request* made = &e->request;
  if (e->large) switch (e->function) {
      case ALLTOALL:
        return MPI_Alltoall_init_c(from, s->counts[0], ts, to, r->counts[0], tr, comm, none, made);
      case ALLTOALLV:
        return MPI_Alltoallv_init_c(from, s->large_counts, s->large_begins, ts, to, r->large_counts,
                                    r->large_begins, tr, comm, none, made);
      default:
        return MPI_Alltoallw_init_c(from, s->large_counts, s->large_begins, s->types, to,
                                    r->large_counts, r->large_begins, r->types, comm, none, made);
    }
  switch (e->function) {
    case ALLTOALL:
      return MPI_Alltoall_init(from, s->counts[0], ts, to, r->counts[0], tr, comm, none, made);
    case ALLTOALLV:
      return MPI_Alltoallv_init(from, s->counts, s->begins, ts, to, r->counts, r->begins, tr, comm,
                                none, made);
    default:
      return MPI_Alltoallw_init(from, s->counts, s->begins, s->types, to, r->counts, r->begins,
                                r->types, comm, none, made);
  }
}
#else
static int init(exchange_t* e, MPI_Comm comm) { return (void)e, (void)comm, MPI_SUCCESS; }
#endif

static int start(exchange_t* e, MPI_Comm comm, MPI_Request* request) {
  const void* from = e->in_place ? MPI_IN_PLACE : e->send.memory;
  void* to = e->receive.memory;
  const arguments_t *s = &e->as, *r = &e->ar;
  const MPI_Datatype ts = s->types[0], tr = r->types[0];
  if (e->persistent) {
    *request = e->request;
    return e->number % 2 ? MPI_Start(request) : MPI_Startall(1, request);
  }
  if (e->barrier) return MPI_Ibarrier(comm, request);
#if MPI_VERSION >= 4
  if (e->large) switch (e->function) {
      case ALLTOALL:
        return MPI_Ialltoall_c(from, s->counts[0], ts, to, r->counts[0], tr, comm, request);
      case ALLTOALLV:
        return MPI_Ialltoallv_c(from, s->large_counts, s->large_begins, ts, to, r->large_counts,
                                r->large_begins, tr, comm, request);
      default:
        return MPI_Ialltoallw_c(from, s->large_counts, s->large_begins, s->types, to,
                                r->large_counts, r->large_begins, r->types, comm, request);
    }
#endif
  switch (e->function) {
    case ALLTOALL:
      return MPI_Ialltoall(from, s->counts[0], ts, to, r->counts[0], tr, comm, request);
    case ALLTOALLV:
      return MPI_Ialltoallv(from, s->counts, s->begins, ts, to, r->counts, r->begins, tr, comm,
                            request);
    default:
      return MPI_Ialltoallw(from, s->counts, s->begins, s->types, to, r->counts, r->begins,
                            r->types, comm, request);
  }
}

/* Every rank can tell the size of any block. `shape` of the sizes: 0 equal, 1 mostly none, else
   different. */
static int size_of(int shape, int equal, int most, uint64_t sizes, int from, int to) {
  uint64_t draw = sizes + (uint64_t)(from * MOST_RANKS + to);
  if (shape == 0) return equal;
  return shape == 1 && below(&draw, 3) ? 0 : below(&draw, most);
}

static void draw_sides(exchange_t* e, int shape, int equal, int most, uint64_t* common,
                       uint64_t* own) {
  side_t *s = &e->send, *r = &e->receive;
  const uint64_t sizes = next(common);
  draw_layouts(s, own);
  draw_layouts(r, own);
  s->blocks = r->blocks = e->n;
  s->typed = r->typed = e->function == ALLTOALLW;
  for (int peer = 0; peer < e->n; ++peer) {
    s->counts[peer] = size_of(shape, equal, most, sizes, e->me, peer);
    r->counts[peer] = size_of(shape, equal, most, sizes, peer, e->me);
  }
  /* On a single rank Open MPI 4.1.4 takes no notice of displacements in MPI_Ialltoallw. */
  const int spaced = e->function != ALLTOALL;
  make_side(s, spaced, own);
  make_side(r, spaced, own);
}

/* `librarys`: the exchange may be one that haichi leaves to the MPI library. */
static void make_exchange(exchange_t* e, MPI_Comm comm, int number, int librarys, int persistent,
                          uint64_t* common, uint64_t* own) {
  const int kind = below(common, 12);
  MPI_Comm_rank(comm, &e->me);
  MPI_Comm_size(comm, &e->n);
  e->number = number;
  e->persistent = persistent;
  e->barrier = librarys && kind == 0;
  e->in_place = librarys && kind == 1;
  e->function = below(common, FUNCTIONS);
  /* In place a rank sends to each as much as it receives from it: so it is with equal blocks. */
  if (e->in_place) e->function = ALLTOALL;
  e->large = below(common, 4) == 0;
  const int most = below(common, 3) == 0 ? 700 : 12, shape = below(common, 4);
  const int equal = below(common, most);
  if (!librarys && equal < 50 && e->function == ALLTOALL) e->function = ALLTOALLV;
  draw_sides(e, e->function == ALLTOALL ? 0 : shape, equal, most, common, own);
  e->expected = malloc(e->receive.size);
  e->as = arguments_of(&e->send);
  e->ar = arguments_of(&e->receive);
}

/* What lies in the blocks of one side; `sends` says of which. */
static void fill(side_t* side, int sends, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block)
    fill_block(side, block, sends ? me : block, sends ? block : me, call);
}

static void fill_exchange(exchange_t* e, int round) {
  const int call = e->number + round * 31;
  fill(&e->send, 1, e->me, call);
  fill(&e->receive, 0, e->me, call);
  memcpy(e->expected, e->receive.memory, e->receive.size);
  if (e->in_place) /* What goes lies where what comes will be. */
    fill(&e->receive, 1, e->me, call);
  else
    memset(e->receive.memory, CANARY, e->receive.size);
  if (e->barrier) memset(e->expected, CANARY, e->receive.size);
}

static int check_exchange(const exchange_t* e) {
  int wrong = 0;
  for (size_t i = 0; i < e->receive.size; ++i) wrong += e->receive.memory[i] != e->expected[i];
  return wrong;
}

static void free_types_of(exchange_t* e) {
  free_types(&e->send);
  free_types(&e->receive);
}

static void free_exchange(exchange_t* e) {
  if (e->persistent) MPI_Request_free(&e->request);
  free(e->expected);
  free(e->send.memory);
  free(e->receive.memory);
}

enum { LENGTH = 20000 };
static exchange_t exchanges[COMMS][EACH];
static int out[MESSAGES][LENGTH], in[MESSAGES][LENGTH];

typedef struct {
  MPI_Comm comms[COMMS];
  int used, each; /* communicators, exchanges on each */
  int persistent, length;
} case_t;

/* Starts everything in an order of this rank's own; returns how many calls went wrong. */
static int start_all(const case_t* c, int round, MPI_Request* requests, uint64_t* own) {
  int next_of[COMMS] = {0}, messages = 0, count = 0, wrong = 0;
  const int turned = c->persistent ? below(own, c->each) : 0;
  for (int left = c->used * c->each; left > 0 || messages < MESSAGES;) {
    const int i = below(own, c->used);
    if (messages < MESSAGES && below(own, 3) == 0) {
      start_message(messages, MPI_COMM_WORLD, out[messages], in[messages], c->length,
                    &requests[count]);
      ++messages;
      count += 2;
    }
    if (next_of[i] == c->each) continue;
    exchange_t* e = &exchanges[i][(next_of[i]++ + turned) % c->each];
    fill_exchange(e, round);
    wrong += start(e, c->comms[i], &requests[count++]) != MPI_SUCCESS;
    if (!c->persistent) free_types_of(e);
    --left;
  }
  return wrong;
}

static int check_all(const case_t* c) {
  int wrong = 0;
  for (int i = 0; i < c->used; ++i)
    for (int j = 0; j < c->each; ++j) wrong += check_exchange(&exchanges[i][j]);
  for (int m = 0; m < MESSAGES; ++m) wrong += check_message(m, MPI_COMM_WORLD, in[m], c->length);
  return wrong;
}

static void free_comms(case_t* c) {
  for (int i = 0; i < c->used; ++i)
    if (c->comms[i] != MPI_COMM_WORLD) MPI_Comm_free(&c->comms[i]);
}

/* One case; returns how many bytes or calls were wrong on this rank. */
static int run_case(uint64_t seed, int rank, int ranks) {
  uint64_t common = seed, own = seed * 1000003 + (uint64_t)rank;
  int wrong = 0;
  const int early = below(&common, 2) && ranks > 1;
#if MPI_VERSION >= 4
  const int persistent = below(&common, 3) == 0 && ranks > 1;
#else
  const int persistent = 0;
#endif
#ifdef OPEN_MPI
  /* It ends the program if a communicator with a nonblocking collective of its own is freed. */
  const int librarys = !early && !persistent;
#else
  const int librarys = !persistent;
#endif
  case_t c = {.used = 1 + below(&common, COMMS), .each = 1 + below(&common, EACH)};
  c.persistent = persistent;
  c.length = below(&common, 2) ? 10 : LENGTH;
  for (int i = 0; i < c.used; ++i) {
    int kind = below(&common, 4);
    if (i > 0 && kind == 0) kind = 1;     /* on one communicator all ranks start in one order */
    if (!librarys && kind == 2) kind = 3; /* half of the ranks may be on one node */
    c.comms[i] = make_comm(kind, rank, ranks);
    for (int j = 0; j < c.each; ++j) {
      exchange_t* e = &exchanges[i][j];
      make_exchange(e, c.comms[i], i * EACH + j, librarys, persistent, &common, &own);
      if (!persistent) continue;
      wrong += init(e, c.comms[i]) != MPI_SUCCESS;
      free_types_of(e);
    }
  }
  for (int round = 0; round < (persistent ? 3 : 1); ++round) {
    MPI_Request requests[MOST_REQUESTS];
    const int count = c.used * c.each + 2 * MESSAGES;
    wrong += start_all(&c, round, requests, &own);
    if (early && round == 0) free_comms(&c);
    wrong += wait_for(count, requests, &own);
    for (int i = 0; i < count && !persistent; ++i) wrong += requests[i] != MPI_REQUEST_NULL;
    wrong += check_all(&c);
  }
  if (!early) free_comms(&c);
  for (int i = 0; i < c.used; ++i)
    for (int j = 0; j < c.each; ++j) free_exchange(&exchanges[i][j]);
  return wrong;
}

int main(int argc, char** argv) { return run_cases(argc, argv, run_case); }
