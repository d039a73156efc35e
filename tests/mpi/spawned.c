// Spawns itself and communicates with its children over what MPI_Intercomm_merge makes of both:
// collectives, nonblocking ones, communicators made of it, and a file that all of them open.
//
//   spawned FILE [multiple|wdir]    FILE is written and read by all ranks of both worlds;
//                                   "multiple" spawns with MPI_Comm_spawn_multiple, "wdir" by an
//                                   info that says where
//
// Rank 0 of the parents prints one line "intact, N of M children have a shim", where a child has
// one if its LD_PRELOAD names libhaichi. Anything wrong is a line and exit code 1.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { children = 2, block = 100 };

static int wrong = 0;

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  printf("not so: %s\n", what);
}

static void exchange(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* const out = malloc(sizeof(int) * (size_t)size);
  int* const in = malloc(sizeof(int) * (size_t)size);
  for (int call = 0; call < 4; ++call) {
    for (int i = 0; i < size; ++i) out[i] = call + 100 * rank + i, in[i] = -1;
    if (call < 3) {
      MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    } else {
      MPI_Request request;
      MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < size; ++i) expect(in[i] == call + 100 * i + rank, "the exchange is right");
  }
  free(in);
  free(out);
}

static void use_file(MPI_Comm comm, const char* name) {
  int rank, size;
  MPI_File file;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int opened =
      MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  expect(opened == MPI_SUCCESS, "the file can be opened");
  char mine[block], read[block];
  memset(mine, 'a' + rank, sizeof mine);
  MPI_File_write_at_all(file, (MPI_Offset)rank * block, mine, block, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(comm);
  MPI_File_sync(file);
  const int next = (rank + 1) % size;
  MPI_File_read_at_all(file, (MPI_Offset)next * block, read, block, MPI_CHAR, MPI_STATUS_IGNORE);
  memset(mine, 'a' + next, sizeof mine);
  expect(memcmp(mine, read, sizeof mine) == 0, "the file has what all ranks wrote");
  MPI_File_close(&file);
}

static void spawn(char* program, char* name, const char* how, MPI_Comm* between) {
  char* arguments[] = {name, NULL};
  if (strcmp(how, "multiple") != 0) {
    MPI_Info info = MPI_INFO_NULL;
    char here[4096];
    if (strcmp(how, "wdir") == 0 && getcwd(here, sizeof here) != NULL) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "wdir", here);
    }
    MPI_Comm_spawn(program, arguments, children, info, 0, MPI_COMM_WORLD, between,
                   MPI_ERRCODES_IGNORE);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return;
  }
  char* commands[] = {program, program};
  char** lists[] = {arguments, arguments};
  const int counts[] = {1, children - 1};
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm_spawn_multiple(2, commands, lists, counts, infos, 0, MPI_COMM_WORLD, between,
                          MPI_ERRCODES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) return 2;
  MPI_Comm parent, between, all, again, part;
  MPI_Comm_get_parent(&parent);
  between = parent;
  if (parent == MPI_COMM_NULL) spawn(argv[0], argv[1], argc > 2 ? argv[2] : "", &between);
  MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
  int rank, size, sum[2];
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  exchange(all);
  use_file(all, argv[1]);
  MPI_Comm_dup(all, &again);
  exchange(again);
  MPI_Comm_split(all, rank % 2, -rank, &part);
  exchange(part);
  exchange(MPI_COMM_WORLD);
  const char* const preload = getenv("LD_PRELOAD");
  const int counted[2] = {
      wrong, parent != MPI_COMM_NULL && preload && strstr(preload, "libhaichi-") != NULL};
  MPI_Allreduce(counted, sum, 2, MPI_INT, MPI_SUM, all);
  if (rank == 0 && sum[0] == 0) printf("intact, %d of %d children have a shim\n", sum[1], children);
  MPI_Comm_free(&part);
  MPI_Comm_free(&again);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return sum[0] != 0;
}
