/* Attributes of communicators whose callbacks count, on communicators with collectives and files.
 *
 *   mpiexec -n N attributes FILE
 * Prints, on rank 0, how often callbacks copied and deleted the attribute, and on how many
 * communicators they were called that the program does not know; "freed twice" if a value was. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 10, DUPLICATES = 3 };

static int copies, deletes, strangers, twice;
static MPI_Comm known[DUPLICATES + 1];

static int is_known(MPI_Comm comm) {
  for (int i = 0; i <= DUPLICATES; ++i)
    if (known[i] == comm) return 1;
  return 0;
}

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)keyval, (void)extra, (void)in;
  ++copies;
  strangers += !is_known(comm);
  int* const value = malloc(sizeof *value);
  *value = 1;
  *(void**)out = value;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  ++deletes;
  strangers += !is_known(comm);
  twice += --*(int*)value < 0; /* kept, to look at it again */
  return MPI_SUCCESS;
}

static void use(MPI_Comm comm, const char* path, int ranks) {
  int sent[64] = {0}, got[64], topology = MPI_UNDEFINED;
  for (int call = 0; call < CALLS; ++call) {
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
    MPI_Allgather(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  }
  for (int i = 0; i < 2; ++i) {
    MPI_File file;
    if (MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) continue;
    MPI_File_write_all(file, sent, ranks, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  (void)topology;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int keyval, rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
  for (int i = 0; i <= DUPLICATES; ++i) known[i] = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &known[0]);
  int* const value = malloc(sizeof *value);
  *value = 1;
  MPI_Comm_set_attr(known[0], keyval, value);
  use(known[0], argv[1], ranks);
  for (int i = 1; i <= DUPLICATES; ++i) {
    MPI_Comm_dup(known[i - 1], &known[i]);
    use(known[i], argv[1], ranks);
  }
  for (int i = DUPLICATES; i >= 0; --i) {
    MPI_Comm freed = known[i];
    MPI_Comm_free(&freed);
  }
  if (rank == 0)
    printf("copied %d, deleted %d, on unknown communicators %d%s\n", copies, deletes, strangers,
           twice ? ", freed twice" : "");
  MPI_Comm_free_keyval(&keyval);
  MPI_Finalize();
  return 0;
}
