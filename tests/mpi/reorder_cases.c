/* Topologies of random communicators, drawn from a seed: what each is, and what goes between nodes.
 *
 *   mpiexec -n N reorder_cases SEED CASES NODE...   the node of each rank of MPI_COMM_WORLD
 * A line for each case, the same with any order of ranks but for the weight between nodes ("cut")
 * and whether ranks moved. "wrong" counts what no MPI library may do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static int rank, ranks, wrong;
static unsigned long long state;
static int node_of[MOST];

static int draw(int below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned)below);
}

#define CHECK(true_of_it)                                         \
  do {                                                            \
    if (!(true_of_it)) {                                          \
      ++wrong;                                                    \
      fprintf(stderr, "%d: not so: %s\n", __LINE__, #true_of_it); \
    }                                                             \
  } while (0)

/* Some ranks of MPI_COMM_WORLD in some order. */
static MPI_Comm random_communicator(int world) {
  int in[MOST], key[MOST], any = 0;
  for (int r = 0; r < ranks; ++r) {
    in[r] = world || draw(5) > 0;
    key[r] = world ? r : draw(1000);
    any |= in[r];
  }
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, in[rank] || !any ? 0 : MPI_UNDEFINED, key[rank], &comm);
  return comm;
}

/* The node of each rank of a communicator. */
static void nodes_of(MPI_Comm comm, int* nodes) {
  MPI_Allgather(&node_of[rank], 1, MPI_INT, nodes, 1, MPI_INT, comm);
}

static int moved(MPI_Comm made, MPI_Comm parent) {
  int result, here, there;
  MPI_Comm_rank(made, &here);
  MPI_Comm_rank(parent, &there);
  MPI_Comm_compare(made, parent, &result);
  CHECK(result != MPI_IDENT && result != MPI_UNEQUAL);
  return here != there;
}

/* Weights from each rank to those it sends to, that go to other nodes. */
static long cut_of(MPI_Comm made, int count, const int* to, const int* weights) {
  int nodes[MOST], here;
  long cut = 0;
  nodes_of(made, nodes);
  MPI_Comm_rank(made, &here);
  for (int i = 0; i < count; ++i)
    if (to[i] != MPI_PROC_NULL && nodes[to[i]] != nodes[here]) cut += weights ? weights[i] : 1;
  return cut;
}

static long grid(MPI_Comm comm, int size, int reorder, int* has_moved) {
  int extents[5], periods[5], got[5], got_periods[5], at[5], to[10], count = 0, total = 1;
  const int dimensions = 1 + draw(4);
  for (int d = 0; d < dimensions; ++d) {
    const int room = size / total;
    extents[d] = 1 + draw(room < 6 ? room : 6);
    total *= extents[d];
    periods[d] = draw(2);
  }
  MPI_Comm made;
  int there, here;
  MPI_Comm_rank(comm, &there);
  MPI_Cart_create(comm, dimensions, extents, periods, reorder, &made);
  CHECK((made != MPI_COMM_NULL) == (there < total));
  if (made == MPI_COMM_NULL) return 0;
  MPI_Comm_rank(made, &here);
  MPI_Cart_get(made, dimensions, got, got_periods, at);
  CHECK(!memcmp(got, extents, sizeof(int) * (size_t)dimensions));
  CHECK(!memcmp(got_periods, periods, sizeof(int) * (size_t)dimensions));
  int number = 0;
  for (int d = 0; d < dimensions; ++d) number = number * extents[d] + at[d];
  CHECK(number == here);
  if (!reorder) CHECK(here == there);
  for (int d = 0; d < dimensions; ++d)
    for (int up = -1; up <= 1; up += 2) {
      int source, received = -1;
      MPI_Cart_shift(made, d, up, &source, &to[count]);
      MPI_Sendrecv(&here, 1, MPI_INT, to[count], 0, &received, 1, MPI_INT, source, 0, made,
                   MPI_STATUS_IGNORE);
      CHECK(received == (source == MPI_PROC_NULL ? -1 : source));
      ++count;
    }
  if (total == size) *has_moved = moved(made, comm);
  const long cut = cut_of(made, count, to, NULL);
  MPI_Comm_free(&made);
  return cut;
}

/* weight[a][b]: from rank a to rank b; 0 is no edge. Bit 20 marks an edge without weight. */
static int weight[MOST][MOST];
#define EDGE (1 << 20)

static void draw_graph(int size) {
  memset(weight, 0, sizeof weight);
  for (int i = draw(4 * size); i >= 0; --i) weight[draw(size)][draw(size)] = EDGE | draw(1000);
}

static int edges_from(int a, int size, int* to, int* weights) {
  int count = 0;
  for (int b = size - 1; b >= 0; --b)
    if (weight[a][b]) {
      to[count] = b;
      weights[count++] = weight[a][b] & ~EDGE;
    }
  return count;
}

static int edges_to(int b, int size, int* from, int* weights) {
  int count = 0;
  for (int a = 0; a < size; ++a)
    if (weight[a][b]) {
      from[count] = a;
      weights[count++] = weight[a][b] & ~EDGE;
    }
  return count;
}

static int smaller(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

/* What a rank has is what the graph says of its number, in the order given if `ordered`. */
static long check_graph(MPI_Comm made, int size, int weighted, int ordered) {
  int here, in, out, says, from[MOST], from_weights[MOST], to[MOST], weights[MOST];
  int got_from[MOST], got_from_weights[MOST], got_to[MOST], got_weights[MOST], values[MOST];
  MPI_Comm_rank(made, &here);
  MPI_Dist_graph_neighbors_count(made, &in, &out, &says);
  CHECK(in == edges_to(here, size, from, from_weights));
  CHECK(out == edges_from(here, size, to, weights));
  CHECK(!!says == weighted);
  MPI_Dist_graph_neighbors(made, in, got_from, weighted ? got_from_weights : MPI_UNWEIGHTED, out,
                           got_to, weighted ? got_weights : MPI_UNWEIGHTED);
  MPI_Neighbor_allgather(&here, 1, MPI_INT, values, 1, MPI_INT, made);
  CHECK(!memcmp(values, got_from, sizeof(int) * (size_t)in));
  for (int i = 0; weighted && i < in; ++i)
    CHECK(got_from_weights[i] == (weight[got_from[i]][here] & ~EDGE));
  for (int i = 0; weighted && i < out; ++i)
    CHECK(got_weights[i] == (weight[here][got_to[i]] & ~EDGE));
  const long cut = cut_of(made, out, got_to, weighted ? got_weights : NULL);
  if (!ordered) {
    qsort(got_from, (size_t)in, sizeof(int), smaller);
    qsort(from, (size_t)in, sizeof(int), smaller);
    qsort(got_to, (size_t)out, sizeof(int), smaller);
    qsort(to, (size_t)out, sizeof(int), smaller);
  }
  CHECK(!memcmp(from, got_from, sizeof(int) * (size_t)in));
  CHECK(!memcmp(to, got_to, sizeof(int) * (size_t)out));
  return cut;
}

static long adjacent_graph(MPI_Comm comm, int size, int reorder, int* has_moved) {
  int there, from[MOST], from_weights[MOST], to[MOST], weights[MOST];
  const int weighted = draw(3) > 0;
  draw_graph(size);
  MPI_Comm_rank(comm, &there);
  const int in = edges_to(there, size, from, from_weights);
  const int out = edges_from(there, size, to, weights);
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(comm, in, from,
                                 !weighted ? MPI_UNWEIGHTED
                                 : in      ? from_weights
                                           : MPI_WEIGHTS_EMPTY,
                                 out, to,
                                 !weighted ? MPI_UNWEIGHTED
                                 : out     ? weights
                                           : MPI_WEIGHTS_EMPTY,
                                 MPI_INFO_NULL, reorder, &made);
  *has_moved = moved(made, comm);
  if (!reorder) CHECK(!*has_moved);
  const long cut = check_graph(made, size, weighted, 1);
  MPI_Comm_free(&made);
  return cut;
}

/* Each edge is given by some rank. */
static long distributed_graph(MPI_Comm comm, int size, int reorder, int* has_moved) {
  int there, n = 0, sources[MOST * MOST], degrees[MOST * MOST], to[MOST * MOST];
  int weights[MOST * MOST];
  const int weighted = draw(3) > 0;
  draw_graph(size);
  MPI_Comm_rank(comm, &there);
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b)
      if (weight[a][b] && draw(size) == there) { /* all draw alike */
        sources[n] = a;
        degrees[n] = 1;
        to[n] = b;
        weights[n++] = weight[a][b] & ~EDGE;
      }
  MPI_Comm made;
  MPI_Dist_graph_create(comm, n, sources, degrees, to,
                        !weighted ? MPI_UNWEIGHTED
                        : n       ? weights
                                  : MPI_WEIGHTS_EMPTY,
                        MPI_INFO_NULL, reorder, &made);
  *has_moved = moved(made, comm);
  if (!reorder) CHECK(!*has_moved);
  const long cut = check_graph(made, size, weighted, 0);
  MPI_Comm_free(&made);
  return cut;
}

static long whole_graph(MPI_Comm comm, int size, int reorder, int* has_moved) {
  int there, here, index[MOST], edges[MOST * MOST], got[MOST], weights[MOST], count = 0;
  const int nodes = 1 + draw(size);
  draw_graph(nodes);
  for (int a = 0; a < nodes; ++a) {
    count += edges_from(a, nodes, edges + count, weights);
    index[a] = count;
  }
  MPI_Comm made;
  MPI_Comm_rank(comm, &there);
  MPI_Graph_create(comm, nodes, index, edges, reorder, &made);
  CHECK((made != MPI_COMM_NULL) == (there < nodes));
  if (made == MPI_COMM_NULL) return 0;
  MPI_Comm_rank(made, &here);
  const int begin = here ? index[here - 1] : 0;
  MPI_Graph_neighbors_count(made, here, &count);
  CHECK(count == index[here] - begin);
  MPI_Graph_neighbors(made, here, MOST, got);
  CHECK(!memcmp(got, edges + begin, sizeof(int) * (size_t)count));
  if (nodes == size) *has_moved = moved(made, comm);
  const long cut = cut_of(made, count, got, NULL);
  MPI_Comm_free(&made);
  return cut;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state = strtoull(argv[1], NULL, 10);
  for (int r = 0; r < ranks; ++r) node_of[r] = atoi(argv[3 + r]);
  static const char* const names[] = {"grid", "adjacent", "distributed", "graph"};
  for (int i = 0; i < atoi(argv[2]); ++i) {
    MPI_Comm comm = random_communicator(draw(2));
    const int kind = draw(8) < 5 ? 0 : 1 + draw(3), reorder = draw(8) > 0;
    int size = 0, has_moved = 0, any_moved, world_size;
    long cut = 0, all;
    const unsigned long long here = state;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    MPI_Allreduce(&size, &world_size, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (comm != MPI_COMM_NULL) {
      long (*const make[])(MPI_Comm, int, int, int*) = {grid, adjacent_graph, distributed_graph,
                                                        whole_graph};
      cut = make[kind](comm, size, reorder, &has_moved);
      MPI_Comm_free(&comm);
    }
    state = here + (unsigned)i;
    MPI_Allreduce(&cut, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&has_moved, &any_moved, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
      printf("%d %s of %d reorder %d cut %ld moved %d\n", i, names[kind], world_size, reorder, all,
             any_moved);
  }
  int all_wrong;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\n", all_wrong);
  MPI_Finalize();
  return 0;
}
