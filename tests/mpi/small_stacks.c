/* small_stacks: MPI calls from threads that have stacks of 32 KiB.
 *
 *   mpiexec -n N small_stacks FILE
 * Prints "right" once for each rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kInts = 3000, kCalls = 12, kStack = 32 << 10 };

static int rank, ranks, wrong;
static const char* path;

static void write_and_read(void) {
  static int mine[kInts];
  MPI_File file;
  MPI_Datatype column;
  MPI_Type_vector(kInts, 1, ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  wrong += MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file) != MPI_SUCCESS;
  MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL);
  for (int i = 0; i < kInts; ++i) mine[i] = rank * kInts + i;
  MPI_File_write_all(file, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < kInts; ++i) mine[i] = -1;
  MPI_File_read_at_all(file, 0, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < kInts; ++i) wrong += mine[i] != rank * kInts + i;
  MPI_File_close(&file);
  MPI_Type_free(&column);
}

static void exchange(void) {
  int* const send = malloc(sizeof(int) * (size_t)ranks);
  int* const got = malloc(sizeof(int) * (size_t)ranks);
  for (int call = 0; call < kCalls; ++call) {
    for (int r = 0; r < ranks; ++r) send[r] = rank * ranks + r + call;
    MPI_Alltoall(send, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) wrong += got[r] != r * ranks + rank + call;
    MPI_Allgather(send, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) wrong += got[r] != r * ranks + call;
  }
  free(send);
  free(got);
}

static void* run(void* nothing) {
  write_and_read();
  exchange();
  return nothing;
}

int main(int argc, char** argv) {
  int level;
  pthread_t thread;
  pthread_attr_t attributes;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  path = argv[argc - 1];
  pthread_attr_init(&attributes);
  wrong += pthread_attr_setstacksize(&attributes, kStack) != 0;
  wrong += pthread_create(&thread, &attributes, run, NULL) != 0;
  pthread_join(thread, NULL);
  MPI_Finalize();
  if (!wrong) puts("right");
  return wrong != 0;
}
