/* What the programs of random exchanges among neighbours share: topologies, who is whose neighbour,
 * and what lies in a block. */
#pragma once

#include "exchange_blocks.h"

enum { CARTESIAN, GRAPH, EDGES, ADJACENT, TOPOLOGIES };
enum { MOST_EDGES = 16 * 4 };

/* This rank's neighbours, in the order of its blocks. */
typedef struct {
  int cartesian, in, out;
  int sources[MOST_BLOCKS], destinations[MOST_BLOCKS];
} neighbours_t;

/* How many of the first `count` are that rank. */
static inline int times(const int* ranks, int count, int rank) {
  int found = 0;
  for (int i = 0; i < count; ++i) found += ranks[i] == rank;
  return found;
}

static inline int repeated(const int* ranks, int count) {
  for (int i = 0; i < count; ++i)
    if (ranks[i] != MPI_PROC_NULL && times(ranks, i, ranks[i])) return 1;
  return 0;
}

static inline MPI_Comm make_grid(MPI_Comm base, int n, uint64_t* common) {
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
static inline MPI_Comm make_graph(MPI_Comm base, int n, int repeats, uint64_t* common) {
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
static inline MPI_Comm make_distributed(MPI_Comm base, int me, int n, int adjacent, int repeats,
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

/* One of these on the ranks of `base`; `repeats`: two ranks may be neighbours more than once. */
static inline MPI_Comm make_topology(int topology, MPI_Comm base, int repeats, uint64_t* common) {
  int me, n;
  MPI_Comm_rank(base, &me);
  MPI_Comm_size(base, &n);
  if (topology == CARTESIAN) return make_grid(base, n, common);
  if (topology == GRAPH) return make_graph(base, n, repeats, common);
  return make_distributed(base, me, n, topology == ADJACENT, repeats, common);
}

static inline neighbours_t neighbours_of(MPI_Comm comm, int topology, int me) {
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

/* The same answer on all ranks of `comm`: one of them has a neighbour more than once. */
static inline int repeated_anywhere(const neighbours_t* of, MPI_Comm comm) {
  const int mine = repeated(of->sources, of->in) || repeated(of->destinations, of->out);
  int anywhere = 0;
  MPI_Allreduce(&mine, &anywhere, 1, MPI_INT, MPI_MAX, comm);
  return anywhere;
}

/* What MPI_Neighbor_alltoall does in a grid with repeated neighbours: all libraries do alike,
 * unless the blocks of a rank for itself are of two dimensions. */
static inline int told_of_grid(const neighbours_t* of, int me) {
  return of->cartesian && times(of->sources, of->in, me) <= 2;
}

/* What lies in a block is told by its receiver and how many the sender has for it before. */
static inline int name_of(int to, int before) { return to + 5 * before; }

static inline void fill_sent(side_t* side, const neighbours_t* of, int gathers, int me, int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block) {
    const int to = of->destinations[block];
    if (gathers)
      fill_block(side, block, me, 0, call);
    else if (to != MPI_PROC_NULL)
      fill_block(side, block, me, name_of(to, times(of->destinations, block, to)), call);
  }
}

/* In a grid what goes one way comes from the other. */
static inline void fill_received(side_t* side, const neighbours_t* of, int gathers, int me,
                                 int call) {
  memset(side->memory, CANARY, side->size);
  for (int block = 0; block < side->blocks; ++block) {
    const int from = of->sources[block];
    if (from == MPI_PROC_NULL) continue;
    const int pair = block / 2 * 2;
    const int before = of->cartesian && of->sources[pair] == of->sources[pair + 1] && block == pair;
    fill_block(side, block, from, gathers ? 0 : name_of(me, before), call);
  }
}

/* Of a case in which MPI leaves open which block becomes which: rank 0 prints "case SEED: bytes
 * SUM", the sum of all ranks' bytes. It matters who has them. Nothing if there are none. */
static inline void print_sum(uint64_t seed, uint64_t sum) {
  int rank;
  uint64_t all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sum *= 2 * (uint64_t)rank + 1;
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all != 0)
    printf("case %llu: bytes %llx\n", (unsigned long long)seed, (unsigned long long)all);
}
