#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicators.h"
#include "random_calls.h"

int world_rank, world_size, threads_allowed;
const char* folder;

static uint64_t state, sum;
static int shows; /* each step, on standard error */

int draw(int below) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (int)((z ^ z >> 31) % (uint64_t)below);
}

void* room(size_t bytes) {
  void* const data = calloc(bytes + 1, 1);
  if (!data) broken("no memory");
  return data;
}

void fill(void* data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) ((unsigned char*)data)[i] = (unsigned char)(seed * 31 + i * 7);
}

void take(const void* data, size_t bytes) {
  uint64_t hash = 1469598103934665603u + bytes;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  __atomic_fetch_add(&sum, hash, __ATOMIC_RELAXED);
}

void take_number(long number) { take(&number, sizeof number); }

void broken(const char* what) {
  fprintf(stderr, "random_calls: rank %d: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
  exit(9);
}

int draw_bytes(void) {
  static const int sizes[] = {0, 1, 8, 8, 64, 500, 4096, 20000, 70000, 300000};
  return sizes[draw(10)];
}

static MPI_Datatype draw_type(int kind) {
  MPI_Datatype type, inner;
  const int lengths[] = {2, 0, 1}, places[] = {0, 3, 5};
  const MPI_Aint bytes[] = {0, 24, 40};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  const int whole[] = {4, 6}, part[] = {2, 3}, from[] = {1, 2};
  switch (kind) {
    case 0:
      MPI_Type_contiguous(5, MPI_INT, &type);
      break;
    case 1:
      MPI_Type_vector(3, 2, 4, MPI_INT, &type);
      break;
    case 2:
      MPI_Type_create_hvector(3, 1, 24, MPI_DOUBLE, &type);
      break;
    case 3:
      MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
      break;
    case 4:
      MPI_Type_create_struct(3, lengths, bytes, types, &type);
      break;
    case 5:
      MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_SHORT, &type);
      break;
    case 6:
      MPI_Type_create_indexed_block(3, 1, places, MPI_FLOAT, &type);
      break;
    default:
      MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
      MPI_Type_create_resized(inner, 0, 32, &type);
      MPI_Type_free(&inner);
  }
  return type;
}

struct Data draw_data(void) {
  struct Data data = {MPI_BYTE, draw_bytes(), 0};
  if (SOMETIMES(2)) {
    MPI_Type_dup(MPI_BYTE, &data.type);
  } else {
    data.type = draw_type(draw(8));
    data.count = SOMETIMES(4) ? 500 : draw(12);
  }
  MPI_Type_commit(&data.type);
  MPI_Aint low, extent;
  MPI_Type_get_extent(data.type, &low, &extent);
  data.bytes = (size_t)extent * (size_t)data.count + 64;
  return data;
}

void neighbours(const struct Comm* c, int shift, int* to, int* from) {
  if (c->between) {
    *to = *from = c->rank < c->peers ? c->rank : MPI_PROC_NULL;
    return;
  }
  shift %= c->size;
  *to = (c->rank + shift) % c->size;
  *from = (c->rank + c->size - shift) % c->size;
}

int leader_of(const struct Comm* c) {
  int leader = world_rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, c->comm);
  return leader;
}

/* Kinds of steps, and what communicators they are for. */
enum Where { kWithin, kEverywhere, kBetween, kTopology, kWorld };
static const struct {
  const char* name;
  void (*step)(const struct Comm* c);
  enum Where where;
  int weight;
} kinds[] = {
    {"messages", step_messages, kEverywhere, 6},
    {"any-source", step_any_source, kEverywhere, 3},
    {"persistent", step_persistent, kEverywhere, 3},
    {"partitioned", step_partitioned, kWithin, 1},
    {"odd-requests", step_odd_requests, kWithin, 2},
    {"collectives", step_collectives, kWithin, 5},
    {"varying", step_varying, kWithin, 2},
    {"nonblocking", step_nonblocking, kWithin, 3},
    {"kept-collectives", step_kept_collectives, kWithin, 2},
    {"neighbours", step_neighbours, kTopology, 3},
    {"between", step_between, kBetween, 3},
    {"window", step_window, kWithin, 2},
    {"posted-window", step_posted_window, kWithin, 1},
    {"file", step_file, kWithin, 2},
    {"shared-file", step_shared_file, kWithin, 1},
    {"threads", step_threads, kWorld, 1},
    {"session", step_session, kWorld, 1},
    {"spawn", step_spawn, kWorld, 1},
    {"refused", step_refused, kWithin, 1},
    {"large-counts", step_large_counts, kWithin, 2},
};
enum { kKinds = sizeof kinds / sizeof *kinds };

static int fits(enum Where where, const struct Comm* c) {
  switch (where) {
    case kWithin:
      return !c->between;
    case kBetween:
      return c->between;
    case kTopology:
      return c->shape != kPlain;
    case kWorld:
      return c->comm == MPI_COMM_WORLD;
    default:
      return 1;
  }
}

static int draw_kind(const char* only) {
  for (;;) {
    const int kind = draw(kKinds), weight = draw(6);
    if (weight >= kinds[kind].weight) continue;
    /* A list of names between commas. */
    if (*only) {
      char name[64];
      snprintf(name, sizeof name, ",%s,", kinds[kind].name);
      if (!strstr(only, name)) continue;
    }
    return kind;
  }
}

static void do_step(const char* only) {
  const int kind = draw_kind(only), slot = draw(kSlots);
  static const int often[] = {1, 1, 1, 2, 3, 20};
  const int times = often[draw(6)];
  const uint64_t before = state;
  if (SOMETIMES(6)) remake(slot);
  /* What ranks outside of the communicator do not draw, the others do. */
  const uint64_t own = state;
  for (int i = 0; i < (kinds[kind].weight < 2 ? 1 : times); ++i) {
    state = own;
    const struct Comm* const c = kinds[kind].where == kWorld ? the_world() : in_slot(slot);
    if (!c || !fits(kinds[kind].where, c)) continue;
    kinds[kind].step(c);
    if (shows)
      fprintf(stderr, "rank %d: %s on slot %d: %016llx\n", world_rank, kinds[kind].name, slot,
              (unsigned long long)sum);
  }
  state = before;
  draw(2);
}

static void report(void) {
  uint64_t* const all = room(sizeof *all * (size_t)world_size);
  PMPI_Gather(&sum, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (int i = 0; world_rank == 0 && i < world_size; ++i)
    printf("rank %d: %016llx\n", i, (unsigned long long)all[i]);
  free(all);
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "child")) return child();
  if (argc < 4) {
    fputs("usage: random_calls SEED STEPS FOLDER [KIND,KIND...]\n", stderr);
    return 2;
  }
  const unsigned long seed = strtoul(argv[1], NULL, 10);
  const int steps = atoi(argv[2]);
  char only[512] = "";
  if (argc > 4) snprintf(only, sizeof only, ",%s,", argv[4]);
  folder = argv[3];
  shows = getenv("RANDOM_CALLS_SHOW") != NULL;
  state = seed * 0xd1342543de82ef95u;
  const int asked = SOMETIMES(3) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int given = MPI_THREAD_SINGLE;
  if (asked == MPI_THREAD_SINGLE && SOMETIMES(2))
    MPI_Init(&argc, &argv);
  else
    MPI_Init_thread(&argc, &argv, asked, &given);
  threads_allowed = given == MPI_THREAD_MULTIPLE;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  void* const buffer = room(4000000);
  MPI_Buffer_attach(buffer, 4000000);
  for (int slot = 0; slot < kSlots; ++slot) remake(slot);
  for (int i = 0; i < steps; ++i) {
    state = (seed * 1000003u + (unsigned)i) * 0x9e3779b97f4a7c15u;
    do_step(only);
  }
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  free(buffer);
  report();
  /* A program need not free what it made. */
  if (seed % 3) free_all();
  MPI_Finalize();
  return 0;
}
