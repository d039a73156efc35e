/* What a topology has of the communicator that it is made of, and what becomes of wrong arguments:
 * all the same with any order of ranks.
 *
 *   mpiexec -n N reorder_semantics FOLDER     N = 8; each rank writes FOLDER/log.R */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* out;
static int copies, deletes, handled;

static int copied(MPI_Comm comm, int key, void* extra, void* from, void* to, int* flag) {
  (void)comm, (void)key, (void)extra;
  ++copies;
  *(void**)to = from;
  *flag = 1;
  return MPI_SUCCESS;
}
static int deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  ++deletes;
  return MPI_SUCCESS;
}
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void told(const char* what, int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  fprintf(out, "%s: class %d, handled %d\n", what, class, handled);
  fflush(out);
}

static MPI_Comm make(MPI_Comm parent, int kind, int rank, int size) {
  static const int extents[] = {2, 4}, periods[] = {0, 0};
  const int next = (rank + 3) % size, before = (rank + size - 3) % size, one = 1;
  int index[8], edges[8];
  for (int r = 0; r < size; ++r) {
    index[r] = r + 1;
    edges[r] = (r + 3) % size;
  }
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  if (kind == 0) code = MPI_Cart_create(parent, 2, extents, periods, 1, &made);
  if (kind == 1) code = MPI_Graph_create(parent, size, index, edges, 1, &made);
  if (kind == 2)
    code = MPI_Dist_graph_create(parent, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                                 &made);
  if (kind == 3)
    code = MPI_Dist_graph_create_adjacent(parent, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
  told("made", code);
  return made;
}

/* What the parent has goes over as the library has it. */
static void inheritance(int kind, int rank, int size) {
  MPI_Comm parent;
  int key, found, length;
  void* value;
  char text[MPI_MAX_OBJECT_NAME] = "";
  MPI_Info hints, got;
  MPI_Errhandler own;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_create_errhandler(handle, &own);
  MPI_Comm_set_errhandler(parent, own);
  MPI_Errhandler_free(&own);
  MPI_Comm_set_name(parent, "parent");
  MPI_Comm_create_keyval(copied, deleted, &key, NULL);
  MPI_Comm_set_attr(parent, key, &copies);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_no_any_tag", "true");
  MPI_Comm_set_info(parent, hints);
  MPI_Info_free(&hints);

  MPI_Comm made = make(parent, kind, rank, size);
  MPI_Comm_get_name(made, text, &length);
  MPI_Comm_get_attr(made, key, &value, &found);
  fprintf(out, "name '%s', attribute %d, copies %d, deletes %d\n", text, found, copies, deletes);
  MPI_Comm_get_info(made, &got);
  strcpy(text, "not there");
  found = 0;
  MPI_Info_get(got, "mpi_assert_no_any_tag", 20, text, &found);
  fprintf(out, "hint %d %s\n", found, text);
  MPI_Info_free(&got);
  /* An error on it: whose handler is asked? Where that ends the job, the library has none inherited
     and we don't try. */
  MPI_Errhandler of_made, fatal = MPI_ERRORS_ARE_FATAL;
  MPI_Comm_get_errhandler(made, &of_made);
  const int returns = of_made == MPI_ERRORS_RETURN, ends = of_made == fatal;
  fprintf(out, "errors return %d, are fatal %d\n", returns, ends);
  MPI_Errhandler_free(&of_made);
  if (!ends) told("send to nobody", MPI_Send(&rank, 1, MPI_INT, 1000, 0, made));
  MPI_Comm_free(&made);
  fprintf(out, "deletes %d\n", deletes);
  MPI_Comm_free(&parent);
  MPI_Comm_free_keyval(&key);
  fprintf(out, "deletes %d\n", deletes);
}

/* What every library refuses on each rank by itself is wrong on one rank alone, which then makes
   the right call that the others wait in. */
static void wrong_on_one(int rank, int size) {
  static const int kind_of[] = {0, 0, 2, 3, 0, 1};
  const int too_large[] = {200, 4}, extents[] = {2, 4}, periods[] = {0, 0}, one = 1;
  MPI_Comm made = MPI_COMM_NULL;
  for (int which = 0; which < 6; ++which) {
    int code = MPI_SUCCESS;
    if (rank == which + 1) {
      switch (which) {
        case 0:
          code = MPI_Cart_create(MPI_COMM_WORLD, 2, too_large, periods, 1, &made);
          break;
        case 1:
          code = MPI_Cart_create(MPI_COMM_WORLD, -1, extents, periods, 1, &made);
          break;
        case 2:
          code = MPI_Dist_graph_create(MPI_COMM_WORLD, -1, &rank, &one, &one, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 1, &made);
          break;
        case 3:
          code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, &one, MPI_UNWEIGHTED, 1, &one,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
          break;
        case 4:
          code = MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 1, &made);
          break;
        default:
          code = MPI_Graph_create(MPI_COMM_WORLD, size + 1, &one, &one, 1, &made);
      }
      told("wrong", code);
    }
    made = make(MPI_COMM_WORLD, kind_of[which], rank, size);
    MPI_Comm_free(&made);
  }
}

/* The same on all ranks, whatever the library makes of it; legal calls at the edge, too. */
static void odd_on_all(int rank, int size) {
  MPI_Comm made = MPI_COMM_NULL;
  int extents[] = {0, 4}, periods[] = {0, 0}, none = MPI_PROC_NULL, beyond = size, code;
  code = MPI_Cart_create(MPI_COMM_WORLD, 0, extents, periods, 1, &made);
  fprintf(out, "%s ", made == MPI_COMM_NULL ? "null" : "made");
  told("no dimension", code);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  code = MPI_Cart_create(MPI_COMM_SELF, 1, periods, periods, 1, &made);
  told("no extent", code);
  extents[0] = 1;
  code = MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 1, &made);
  fprintf(out, "%s ", made == MPI_COMM_NULL ? "null" : "made");
  told("part of the ranks", code);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  code = MPI_Cart_create(MPI_COMM_NULL, 2, extents, periods, 1, &made);
  told("null communicator", code);
  code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &beyond, MPI_UNWEIGHTED, 0, &none,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
  told("rank beyond", code);
  code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &made);
  told("no edge", code);
  if (code == MPI_SUCCESS) MPI_Comm_free(&made);
  (void)rank;
}

/* Ranks of one side of an intercommunicator have no topology. */
static void intercommunicator(int rank) {
  MPI_Comm half, both, made;
  const int extents[] = {2}, periods[] = {0};
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  told("intercommunicator", MPI_Cart_create(both, 1, extents, periods, 1, &made));
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  char path[4096];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  snprintf(path, sizeof path, "%s/log.%d", argv[1], rank);
  out = fopen(path, "w");
  for (int kind = 0; kind < 4; ++kind) inheritance(kind, rank, size);
  wrong_on_one(rank, size);
  odd_on_all(rank, size);
  intercommunicator(rank);
  fprintf(out, "done\n");
  fclose(out);
  MPI_Finalize();
  return 0;
}
