#include "communicators.h"

#include <stdlib.h>

static struct Comm slots[kSlots];
static int made[kSlots];

static void describe(struct Comm* c) {
  if (c->comm == MPI_COMM_NULL) return;
  int topology;
  MPI_Comm_rank(c->comm, &c->rank);
  MPI_Comm_size(c->comm, &c->size);
  MPI_Comm_test_inter(c->comm, &c->between);
  c->peers = c->size;
  if (c->between) MPI_Comm_remote_size(c->comm, &c->peers);
  MPI_Topo_test(c->comm, &topology);
  c->shape = topology == MPI_CART         ? kCart
             : topology == MPI_GRAPH      ? kGraph
             : topology == MPI_DIST_GRAPH ? kDistGraph
                                          : kPlain;
}

static MPI_Comm of_every_second(void) {
  MPI_Group world, part;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int ranges[1][3] = {{0, world_size - 1, 2}};
  MPI_Group_range_incl(world, 1, ranges, &part);
  if (SOMETIMES(2))
    MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
  else if (world_rank % 2 == 0)
    MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &comm);
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  return comm;
}

static MPI_Comm grid(void) {
  MPI_Comm comm, part;
  const int dims_of = 1 + draw(3), reorder = draw(2);
  int dims[3] = {0}, periods[3], keep[3];
  for (int i = 0; i < 3; ++i) {
    periods[i] = draw(2);
    keep[i] = draw(2);
  }
  MPI_Dims_create(world_size, dims_of, dims);
  MPI_Cart_create(MPI_COMM_WORLD, dims_of, dims, periods, reorder, &comm);
  if (comm == MPI_COMM_NULL || !SOMETIMES(3)) return comm;
  keep[0] = 1;
  MPI_Cart_sub(comm, keep, &part);
  MPI_Comm_free(&comm);
  return part;
}

/* A ring, with a chord where there is one. */
static MPI_Comm graph(int kind) {
  MPI_Comm comm;
  const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
  const int sources[] = {last, next}, targets[] = {next, last}, weights[] = {3, 5};
  const int degree[] = {2};
  if (kind == 0) {
    int* const index = room(sizeof(int) * (size_t)world_size);
    int* const edges = room(sizeof(int) * 2 * (size_t)world_size);
    for (int i = 0; i < world_size; ++i) {
      index[i] = 2 * (i + 1);
      edges[2 * i] = (i + 1) % world_size;
      edges[2 * i + 1] = (i + world_size - 1) % world_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, draw(2), &comm);
    free(index);
    free(edges);
  } else if (kind == 1) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, targets, weights,
                                   MPI_INFO_NULL, draw(2), &comm);
  } else {
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, degree, targets, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, draw(2), &comm);
  }
  return comm;
}

static MPI_Comm between_groups(void) {
  MPI_Comm half, comm, merged;
  const int merge = SOMETIMES(3), copy = SOMETIMES(3);
  if (world_size < 2) return MPI_COMM_NULL;
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : 1, 17, &comm);
  MPI_Comm_free(&half);
  if (copy) {
    MPI_Comm other;
    MPI_Comm_dup(comm, &other);
    MPI_Comm_free(&comm);
    comm = other;
  }
  if (!merge) return comm;
  MPI_Intercomm_merge(comm, side, &merged);
  MPI_Comm_free(&comm);
  return merged;
}

static MPI_Comm copy_of_world(void) {
  MPI_Comm comm;
  MPI_Request request;
  switch (draw(3)) {
    case 0:
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      break;
    case 1:
      MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
      break;
    default:
      MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return comm;
}

static MPI_Comm new_one(void) {
  MPI_Comm comm;
  const int kind = draw(12), parts = 1 + draw(3), downwards = draw(2);
  switch (kind) {
    case 0:
      return copy_of_world();
    case 1:
      return MPI_COMM_WORLD;
    case 2:
      return MPI_COMM_SELF;
    case 3:
    case 4:
      MPI_Comm_split(MPI_COMM_WORLD, world_rank % parts, downwards ? -world_rank : 0, &comm);
      return comm;
    case 5:
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
      return comm;
    case 6:
      MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 0, 0, &comm);
      return comm;
    case 7:
      return of_every_second();
    case 8:
      return grid();
    case 9:
      return graph(draw(3));
    default:
      return between_groups();
  }
}

static int is_predefined(MPI_Comm comm) {
  return comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

void remake(int slot) {
  struct Comm* const c = &slots[slot];
  if (made[slot] && !is_predefined(c->comm)) MPI_Comm_free(&c->comm);
  *c = (struct Comm){.comm = new_one()};
  made[slot] = 1;
  describe(c);
}

const struct Comm* in_slot(int slot) {
  return slots[slot].comm == MPI_COMM_NULL ? NULL : &slots[slot];
}

const struct Comm* the_world(void) {
  static struct Comm world;
  world.comm = MPI_COMM_WORLD;
  describe(&world);
  return &world;
}

void free_all(void) {
  for (int slot = 0; slot < kSlots; ++slot)
    if (!is_predefined(slots[slot].comm)) MPI_Comm_free(&slots[slot].comm);
}
