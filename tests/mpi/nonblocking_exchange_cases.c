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
#include "exchange_sides.h"

enum { COMMS = 3, EACH = 4, MESSAGES = 4, MOST = COMMS * EACH + 2 * MESSAGES };

typedef struct {
  side_t send, receive;
  unsigned char* expected;
  int sc[MOST_RANKS], sd[MOST_RANKS], rc[MOST_RANKS], rd[MOST_RANKS];
#if MPI_VERSION >= 4
  MPI_Count lsc[MOST_RANKS], lrc[MOST_RANKS];
  MPI_Aint lsd[MOST_RANKS], lrd[MOST_RANKS];
#endif
  int regular, large, barrier, in_place, persistent;
  int me, n, number;
  MPI_Request request; /* if persistent */
} exchange_t;

static void list_blocks(exchange_t* e) {
  const side_t *s = &e->send, *r = &e->receive;
  const int us = s->layout.per_element, ur = r->layout.per_element;
  for (int i = 0; i < e->n; ++i) {
    e->sc[i] = s->counts[i] * us, e->sd[i] = s->begins[i] * us;
    e->rc[i] = r->counts[i] * ur, e->rd[i] = r->begins[i] * ur;
#if MPI_VERSION >= 4
    e->lsc[i] = e->sc[i], e->lsd[i] = e->sd[i];
    e->lrc[i] = e->rc[i], e->lrd[i] = e->rd[i];
#endif
  }
}

#if MPI_VERSION >= 4
static int init(exchange_t* e, MPI_Comm comm) {
  const side_t *s = &e->send, *r = &e->receive;
  const MPI_Datatype ts = s->layout.type, tr = r->layout.type;
  const MPI_Info none = MPI_INFO_NULL;
  if (e->regular && e->large)
    return MPI_Alltoall_init_c(s->memory, e->sc[0], ts, r->memory, e->rc[0], tr, comm, none,
                               &e->request);
  if (e->regular)
    return MPI_Alltoall_init(s->memory, e->sc[0], ts, r->memory, e->rc[0], tr, comm, none,
                             &e->request);
  if (e->large)
    return MPI_Alltoallv_init_c(s->memory, e->lsc, e->lsd, ts, r->memory, e->lrc, e->lrd, tr, comm,
                                none, &e->request);
  return MPI_Alltoallv_init(s->memory, e->sc, e->sd, ts, r->memory, e->rc, e->rd, tr, comm, none,
                            &e->request);
}
#else
static int init(exchange_t* e, MPI_Comm comm) { return (void)e, (void)comm, MPI_SUCCESS; }
#endif

static int start(exchange_t* e, MPI_Comm comm, MPI_Request* request) {
  const side_t *s = &e->send, *r = &e->receive;
  const MPI_Datatype ts = s->layout.type, tr = r->layout.type;
  if (e->persistent) {
    *request = e->request;
    return e->number % 2 ? MPI_Start(request) : MPI_Startall(1, request);
  }
  if (e->barrier) return MPI_Ibarrier(comm, request);
  if (e->in_place)
    return MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, r->memory, e->rc[0], tr, comm, request);
#if MPI_VERSION >= 4
  if (e->large && e->regular)
    return MPI_Ialltoall_c(s->memory, e->sc[0], ts, r->memory, e->rc[0], tr, comm, request);
  if (e->large)
    return MPI_Ialltoallv_c(s->memory, e->lsc, e->lsd, ts, r->memory, e->lrc, e->lrd, tr, comm,
                            request);
#endif
  if (e->regular)
    return MPI_Ialltoall(s->memory, e->sc[0], ts, r->memory, e->rc[0], tr, comm, request);
  return MPI_Ialltoallv(s->memory, e->sc, e->sd, ts, r->memory, e->rc, e->rd, tr, comm, request);
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
  e->regular = below(common, 2) || e->in_place;
  e->large = below(common, 4) == 0;
  const int most = below(common, 3) == 0 ? 700 : 12, shape = below(common, 4);
  draw_sides(&e->send, &e->receive, e->me, e->n, e->regular, shape, most, common, own);
  if (!librarys && e->send.counts[0] < 50) e->regular = 0;
  e->expected = malloc(e->receive.size);
  list_blocks(e);
}

static void fill_exchange(exchange_t* e, int round) {
  const int call = e->number + round * 31;
  fill(&e->send, 1, e->me, e->n, call);
  fill(&e->receive, 0, e->me, e->n, call);
  memcpy(e->expected, e->receive.memory, e->receive.size);
  if (e->in_place) /* What goes lies where what comes will be. */
    fill(&e->receive, 1, e->me, e->n, call);
  else
    memset(e->receive.memory, CANARY, e->receive.size);
  if (e->barrier) memset(e->expected, CANARY, e->receive.size);
}

static int check_exchange(const exchange_t* e) {
  int wrong = 0;
  for (size_t i = 0; i < e->receive.size; ++i) wrong += e->receive.memory[i] != e->expected[i];
  return wrong;
}

static void free_exchange(exchange_t* e) {
  if (e->persistent) MPI_Request_free(&e->request);
  free(e->expected);
  free(e->send.memory);
  free(e->receive.memory);
}

static int wait_by_looking(int count, MPI_Request* requests, int way) {
  int wrong = 0, done = 0, index, indices[MOST];
  while (way == 0 && !done)
    wrong += MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  for (done = 0; way == 1;) {
    wrong += MPI_Testany(count, requests, &index, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (done && index == MPI_UNDEFINED) break;
  }
  while (way == 2 && done != MPI_UNDEFINED)
    wrong += MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  for (int i = count; way == 3 && i-- > 0;) {
    for (done = 0; !done;)
      wrong += MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    wrong += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
  }
  for (int i = 0; way == 4 && i < count; ++i)
    for (done = 0; !done;) wrong += MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return wrong;
}

/* Waits for all, by one function or another; returns how many calls went wrong. */
static int wait_for(int count, MPI_Request* requests, uint64_t* own) {
  const int way = below(own, 10);
  int wrong = 0, done = 0, index = 0, seen = 0, indices[MOST];
  MPI_Status statuses[MOST];
  if (way < 5) wrong = wait_by_looking(count, requests, way);
  if (way == 5) wrong = MPI_Waitall(count, requests, statuses) != MPI_SUCCESS;
  if (way == 6) { /* a part of them, then the rest */
    wrong = MPI_Waitall(count / 2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    wrong += MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  }
  while (way == 7 && index != MPI_UNDEFINED) {
    wrong += MPI_Waitany(count, requests, &index, &statuses[0]) != MPI_SUCCESS;
    seen += index != MPI_UNDEFINED;
  }
  while (way == 8 && done != MPI_UNDEFINED) {
    wrong += MPI_Waitsome(count, requests, &done, indices, statuses) != MPI_SUCCESS;
    seen += done == MPI_UNDEFINED ? 0 : done;
  }
  wrong += (way == 7 || way == 8) && seen != count;
  for (int i = count; way == 9 && i-- > 0;)
    wrong += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
  return wrong;
}

/* A message round the ring of all ranks, of some length. */
static void start_message(int number, int rank, int ranks, int* out, int* in, int length,
                          MPI_Request* requests) {
  for (int i = 0; i < length; ++i) out[i] = rank * 1000 + number * 10 + i;
  MPI_Irecv(in, length, MPI_INT, (rank + ranks - 1) % ranks, number, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, length, MPI_INT, (rank + 1) % ranks, number, MPI_COMM_WORLD, &requests[1]);
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
static int start_all(const case_t* c, int rank, int ranks, int round, MPI_Request* requests,
                     uint64_t* own) {
  int next_of[COMMS] = {0}, messages = 0, count = 0, wrong = 0;
  const int turned = c->persistent ? below(own, c->each) : 0;
  for (int left = c->used * c->each; left > 0 || messages < MESSAGES;) {
    const int i = below(own, c->used);
    if (messages < MESSAGES && below(own, 3) == 0) {
      start_message(messages, rank, ranks, out[messages], in[messages], c->length,
                    &requests[count]);
      ++messages;
      count += 2;
    }
    if (next_of[i] == c->each) continue;
    exchange_t* e = &exchanges[i][(next_of[i]++ + turned) % c->each];
    fill_exchange(e, round);
    wrong += start(e, c->comms[i], &requests[count++]) != MPI_SUCCESS;
    if (!c->persistent) free_types(&e->send, &e->receive);
    --left;
  }
  return wrong;
}

static int check_all(const case_t* c, int rank, int ranks) {
  int wrong = 0;
  for (int i = 0; i < c->used; ++i)
    for (int j = 0; j < c->each; ++j) wrong += check_exchange(&exchanges[i][j]);
  for (int m = 0; m < MESSAGES; ++m)
    for (int i = 0; i < c->length; ++i)
      wrong += in[m][i] != (rank + ranks - 1) % ranks * 1000 + m * 10 + i;
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
      free_types(&e->send, &e->receive);
    }
  }
  for (int round = 0; round < (persistent ? 3 : 1); ++round) {
    MPI_Request requests[MOST];
    const int count = c.used * c.each + 2 * MESSAGES;
    wrong += start_all(&c, rank, ranks, round, requests, &own);
    if (early && round == 0) free_comms(&c);
    wrong += wait_for(count, requests, &own);
    for (int i = 0; i < count && !persistent; ++i) wrong += requests[i] != MPI_REQUEST_NULL;
    wrong += check_all(&c, rank, ranks);
  }
  if (!early) free_comms(&c);
  for (int i = 0; i < c.used; ++i)
    for (int j = 0; j < c.each; ++j) free_exchange(&exchanges[i][j]);
  return wrong;
}

int main(int argc, char** argv) { return run_cases(argc, argv, run_case); }
