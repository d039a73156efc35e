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
#include "exchange_blocks.h"

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FUNCTIONS };
enum { CARTESIAN, GRAPH, EDGES, ADJACENT, TOPOLOGIES };
enum { MOST_EDGES = 16 * 4 };

/* What all ranks have drawn alike. */
typedef struct {
  int function, large;
  int repeats; /* some rank may be a neighbour of another more than once */
} call_t;
static int gathers(const call_t* c) { return c->function >= ALLGATHER; }
static int regular(const call_t* c) { return c->function == ALLTOALL || c->function == ALLGATHER; }

/* This rank's neighbours, in the order of its blocks. */
typedef struct {
  int cartesian, in, out;
  int sources[MOST_BLOCKS], destinations[MOST_BLOCKS];
} neighbours_t;

/* How many of the first `count` are that rank. */
static int times(const int* ranks, int count, int rank) {
  int found = 0;
  for (int i = 0; i < count; ++i) found += ranks[i] == rank;
  return found;
}

static int repeated(const int* ranks, int count) {
  for (int i = 0; i < count; ++i)
    if (ranks[i] != MPI_PROC_NULL && times(ranks, i, ranks[i])) return 1;
  return 0;
}

static MPI_Comm make_grid(MPI_Comm base, int n, uint64_t* common) {
  const int dimensions = 1 + below(common, 3);
  int extents[3], periodic[3], left = n;
  for (int d = 0; d < dimensions; ++d) {
    extents[d] = d + 1 == dimensions ? left : 1 + below(common, left < 4 ? left : 4);
    while (left % extents[d]) --extents[d];
    periodic[d] = below(common, 2);
    left /= extents[d];
  }
  MPI_Comm grid;
  MPI_Cart_create(base, dimensions, extents, periodic, 0, &grid);
  return grid;
}

/* Every edge goes both ways: a graph of MPI_Graph_create has one list for both. */
static MPI_Comm make_graph(MPI_Comm base, int n, int repeats, uint64_t* common) {
  int edges = 0, ends[2 * MOST_EDGES][2];
  for (int i = below(common, 2 * n + 1); i > 0; --i) {
    const int a = below(common, n), b = below(common, n);
    int known = 0;
    for (int k = 0; k < edges; ++k) known |= ends[k][0] == a && ends[k][1] == b;
    if (known && !repeats) continue;
    ends[edges][0] = a, ends[edges++][1] = b;
    if (a != b) ends[edges][0] = b, ends[edges++][1] = a;
  }
  int index[MOST_RANKS], list[2 * MOST_EDGES], filled = 0;
  for (int rank = 0; rank < n; ++rank) {
    for (int k = 0; k < edges; ++k)
      if (ends[k][0] == rank) list[filled++] = ends[k][1];
    index[rank] = filled;
  }
  MPI_Comm graph;
  MPI_Graph_create(base, n, index, list, 0, &graph);
  return graph;
}

/* Any edges. Each is given by a rank that is drawn, or both its ranks list it. */
static MPI_Comm make_distributed(MPI_Comm base, int me, int n, int adjacent, int repeats,
                                 uint64_t* common) {
  int edges = 0, from[MOST_EDGES], to[MOST_EDGES];
  for (int i = below(common, 4 * n + 1); i > 0; --i) {
    from[edges] = below(common, n), to[edges] = below(common, n);
    int known = 0;
    for (int k = 0; k < edges; ++k) known |= from[k] == from[edges] && to[k] == to[edges];
    edges += !known || repeats;
  }
  int sources[MOST_EDGES], destinations[MOST_EDGES], ones[MOST_EDGES], in = 0, out = 0;
  MPI_Comm graph;
  for (int k = 0; k < edges; ++k) {
    const int backward = edges - 1 - k; /* sources are listed the other way round */
    ones[k] = 1;
    if (adjacent && to[repeats ? k : backward] == me) sources[in++] = from[repeats ? k : backward];
    if (adjacent && from[k] == me) destinations[out++] = to[k];
    if (!adjacent && k % n == me) sources[out] = from[k], destinations[out++] = to[k];
  }
  if (adjacent)
    MPI_Dist_graph_create_adjacent(base, in, sources, MPI_UNWEIGHTED, out, destinations,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  else
    MPI_Dist_graph_create(base, out, sources, ones, destinations, ones, MPI_INFO_NULL, 0, &graph);
  return graph;
}

static neighbours_t neighbours_of(MPI_Comm comm, int topology, int me) {
  neighbours_t found = {topology == CARTESIAN, 0, 0, {0}, {0}};
  if (topology == CARTESIAN) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; ++d)
      MPI_Cart_shift(comm, d, 1, &found.sources[2 * d], &found.sources[2 * d + 1]);
    found.in = 2 * dimensions;
  }
  if (topology == GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &found.in);
    MPI_Graph_neighbors(comm, me, found.in, found.sources);
  }
  if (topology < EDGES) {
    found.out = found.in;
    memcpy(found.destinations, found.sources, sizeof found.sources);
    return found;
  }
  int weighted, weights[2][MOST_BLOCKS];
  MPI_Dist_graph_neighbors_count(comm, &found.in, &found.out, &weighted);
  MPI_Dist_graph_neighbors(comm, found.in, found.sources, weights[0], found.out, found.destinations,
                           weights[1]);
  return found;
}

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

/* What lies in a block is told by its receiver and how many the sender has for it before. */
static int name_of(int to, int before) { return to + 5 * before; }

static void fill_sent(side_t* side, const neighbours_t* of, const call_t* c, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block) {
    const int to = of->destinations[block];
    if (gathers(c))
      fill_block(side, block, me, 0, call);
    else if (to != MPI_PROC_NULL)
      fill_block(side, block, me, name_of(to, times(of->destinations, block, to)), call);
  }
}

/* In a grid what goes one way comes from the other. */
static void fill_received(side_t* side, const neighbours_t* of, const call_t* c, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block) {
    const int from = of->sources[block];
    if (from == MPI_PROC_NULL) continue;
    const int pair = block / 2 * 2;
    const int before = of->cartesian && of->sources[pair] == of->sources[pair + 1] && block == pair;
    fill_block(side, block, from, gathers(c) ? 0 : name_of(me, before), call);
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
  /* Where the blocks for itself are of two dimensions, libraries differ in a grid too. */
  const int told =
      gathers(c) || !c->repeats ||
      (topology == CARTESIAN && c->function == ALLTOALL && times(of.sources, of.in, me) <= 2);
  unsigned char* expected = malloc(receive.size);
  for (int call = 0; call < calls; ++call) {
    fill_sent(&send, &of, c, me, call);
    fill_received(&receive, &of, c, me, call);
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
  int me, n;
  MPI_Comm_rank(base, &me);
  MPI_Comm_size(base, &n);
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
  if (topology == CARTESIAN) comm = make_grid(base, n, &common);
  if (topology == GRAPH) comm = make_graph(base, n, repeats, &common);
  if (topology >= EDGES)
    comm = make_distributed(base, me, n, topology == ADJACENT, repeats, &common);
  MPI_Comm_rank(comm, &me);
  const neighbours_t of = neighbours_of(comm, topology, me);
  const int mine = repeated(of.sources, of.in) || repeated(of.destinations, of.out);
  MPI_Allreduce(&mine, &c.repeats, 1, MPI_INT, MPI_MAX, base);
  uint64_t sum = 0, all = 0;
  const int wrong = run_calls(comm, topology, &common, &own, &c, &sum);
  sum *= 2 * (uint64_t)rank + 1; /* it matters who has them */
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all != 0)
    printf("case %llu: bytes %llx\n", (unsigned long long)seed, (unsigned long long)all);
  MPI_Comm_free(&comm);
  if (base != MPI_COMM_WORLD) MPI_Comm_free(&base);
  return wrong;
}

int main(int argc, char** argv) { return run_cases(argc, argv, run_case); }
