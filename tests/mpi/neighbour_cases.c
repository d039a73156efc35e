/* Random exchanges among neighbours, checked byte by byte. Usage:
 *
 *   neighbour_cases SEED CASES
 *
 * Each case draws, alike on all ranks: a topology (Cartesian of one to three dimensions, each
 * periodic or not; a graph; a distributed graph by its edges or by each rank's neighbours), on all
 * ranks, halves, or all in reverse; a function, the blocks' sizes, and how often it is called, with
 * other bytes each time. Each rank draws for itself: the datatypes of its two sides, contiguous or
 * with gaps, and where its blocks begin. An element is 12 bytes, whatever the datatype. Bytes
 * between the elements, and blocks of nobody, must stay as they were.
 *
 * Where a rank is a neighbour more than once, MPI libraries differ in which block becomes which.
 * There rank 0 prints "case SEED: bytes SUM", to be compared with that of a run without haichi.
 *
 * Prints "cases N wrong M" on rank 0; exit code 1 if anything was wrong. */
#include "exchange_neighbours.h"

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FUNCTIONS };

/* What all ranks have drawn alike. */
typedef struct {
  int function, large;
  int repeats; /* some rank may be a neighbour of another more than once */
} call_t;
static int gathers(const call_t* c) { return c->function >= ALLGATHER; }
static int regular(const call_t* c) { return c->function == ALLTOALL || c->function == ALLGATHER; }

static int call_it(MPI_Comm comm, const call_t* c, const side_t* s, const side_t* r, int count_sent,
                   int count_received) {
  const arguments_t as = arguments_of(s), ar = arguments_of(r);
  const MPI_Datatype ts = s->layouts[0].type, tr = r->layouts[0].type;
  const int ns = count_sent * s->layouts[0].per_element;
  const int nr = count_received * r->layouts[0].per_element;
#if MPI_VERSION >= 4
  if (c->large) switch (c->function) {
      case ALLTOALL:
        return MPI_Neighbor_alltoall_c(s->memory, ns, ts, r->memory, nr, tr, comm);
      case ALLTOALLV:
        return MPI_Neighbor_alltoallv_c(s->memory, as.large_counts, as.large_begins, ts, r->memory,
                                        ar.large_counts, ar.large_begins, tr, comm);
      case ALLTOALLW:
        return MPI_Neighbor_alltoallw_c(s->memory, as.large_counts, as.large_begins, as.types,
                                        r->memory, ar.large_counts, ar.large_begins, ar.types,
                                        comm);
      case ALLGATHER:
        return MPI_Neighbor_allgather_c(s->memory, ns, ts, r->memory, nr, tr, comm);
      default:
        return MPI_Neighbor_allgatherv_c(s->memory, ns, ts, r->memory, ar.large_counts,
                                         ar.large_begins, tr, comm);
    }
#endif
  switch (c->function) {
    case ALLTOALL:
      return MPI_Neighbor_alltoall(s->memory, ns, ts, r->memory, nr, tr, comm);
    case ALLTOALLV:
      return MPI_Neighbor_alltoallv(s->memory, as.counts, as.begins, ts, r->memory, ar.counts,
                                    ar.begins, tr, comm);
    case ALLTOALLW:
      return MPI_Neighbor_alltoallw(s->memory, as.counts, as.large_begins, as.types, r->memory,
                                    ar.counts, ar.large_begins, ar.types, comm);
    case ALLGATHER:
      return MPI_Neighbor_allgather(s->memory, ns, ts, r->memory, nr, tr, comm);
    default:
      return MPI_Neighbor_allgatherv(s->memory, ns, ts, r->memory, ar.counts, ar.begins, tr, comm);
  }
}

/* Every rank can tell the size of any block: those of one rank are alike in an all-gather, and
   those between two ranks always. */
static int size_of(const call_t* c, int shape, int equal, int most, uint64_t sizes, int from,
                   int to) {
  if (regular(c) || shape == 0) return equal;
  if (from == MPI_PROC_NULL || to == MPI_PROC_NULL) return below(&sizes, 3);
  uint64_t draw = sizes + (uint64_t)(from * MOST_RANKS + (gathers(c) ? 0 : to));
  return shape == 1 && below(&draw, 3) ? 0 : below(&draw, most);
}

/* Calls of one function on a communicator; returns how many bytes or calls were wrong on this
   rank. `sum` is of the bytes that calls left of which this program cannot tell. */
static int run_calls(MPI_Comm comm, int topology, uint64_t* common, uint64_t* own, call_t* c,
                     uint64_t* sum) {
  int me, n, wrong = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const neighbours_t of = neighbours_of(comm, topology, me);
  const int shape = below(common, 4), most = below(common, 3) == 0 ? 700 : 12;
  const int calls = 2 + below(common, 6), equal = below(common, most);
  const uint64_t sizes = next(common);
  side_t send, receive;
  draw_layouts(&send, own);
  draw_layouts(&receive, own);
  send.blocks = gathers(c) ? 1 : of.out;
  receive.blocks = of.in;
  send.typed = receive.typed = c->function == ALLTOALLW;
  send.counts[0] = size_of(c, shape, equal, most, sizes, me, 0);
  for (int i = 0; i < of.out && !gathers(c); ++i)
    send.counts[i] = size_of(c, shape, equal, most, sizes, me, of.destinations[i]);
  for (int i = 0; i < of.in; ++i)
    receive.counts[i] = size_of(c, shape, equal, most, sizes, of.sources[i], me);
  make_side(&send, !regular(c) && !gathers(c), own);
  make_side(&receive, !regular(c), own);
  const int told = gathers(c) || !c->repeats || (c->function == ALLTOALL && told_of_grid(&of, me));
  unsigned char* expected = malloc(receive.size);
  for (int call = 0; call < calls; ++call) {
    fill_sent(&send, &of, gathers(c), me, call);
    fill_received(&receive, &of, gathers(c), me, call);
    memcpy(expected, receive.memory, receive.size);
    memset(receive.memory, CANARY, receive.size);
    wrong += call_it(comm, c, &send, &receive, gathers(c) ? send.counts[0] : equal, equal) !=
             MPI_SUCCESS;
    for (size_t i = 0; i < receive.size; ++i) {
      wrong += told && receive.memory[i] != expected[i];
      if (!told) *sum = *sum * 31 + receive.memory[i];
    }
  }
  free(expected);
  free_side(&receive);
  free_side(&send);
  return wrong;
}

static int run_case(uint64_t seed, int rank, int ranks) {
  uint64_t common = seed, own = seed * 1000003 + (uint64_t)rank;
  MPI_Comm base = make_comm(below(&common, 4), rank, ranks), comm;
  int me;
  int topology = below(&common, TOPOLOGIES);
  call_t c = {below(&common, FUNCTIONS), below(&common, 4) == 0, 0};
#ifndef OPEN_MPI
  /* MPICH 4.0.2 takes wrong counts where a rank has more sources than destinations, or fewer. */
  if (c.function == ALLTOALLW && topology >= EDGES) topology = below(&common, EDGES);
#else
  /* Open MPI 4.1.4 hangs in MPI_Dist_graph_create now and then, without haichi too. */
  if (topology == EDGES) topology = ADJACENT;
#endif
  /* In which order MPI_Dist_graph_create lists neighbours may change from run to run. */
  const int repeats = below(&common, 4) == 0 && topology != EDGES;
  comm = make_topology(topology, base, repeats, &common);
  MPI_Comm_rank(comm, &me);
  const neighbours_t of = neighbours_of(comm, topology, me);
  c.repeats = repeated_anywhere(&of, base);
  uint64_t sum = 0;
  const int wrong = run_calls(comm, topology, &common, &own, &c, &sum);
  print_sum(seed, sum);
  MPI_Comm_free(&comm);
  if (base != MPI_COMM_WORLD) MPI_Comm_free(&base);
  return wrong;
}

int main(int argc, char** argv) { return run_cases(argc, argv, run_case); }
