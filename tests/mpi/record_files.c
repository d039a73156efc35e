/* One-sided accesses, files, derived datatypes, threads and errors that a test knows:
   `record_files FILE MODE`. Two ranks at least. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void one_sided(void) {
  int *memory, out[64] = {0}, result = 0, one = 1;
  MPI_Win win;
  const int next = (rank + 1) % size;
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 5; ++i) MPI_Put(out, 8, MPI_INT, next, 0, 8, MPI_INT, win);
  MPI_Get(out, 2, MPI_INT, next, 16, 2, MPI_INT, win);
  MPI_Accumulate(out, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
  MPI_Fetch_and_op(&one, &result, MPI_INT, next, 40, MPI_SUM, win);
  /* With MPI_NO_OP what would be sent is never looked at. */
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, out, 4, MPI_INT, next, 20, 4, MPI_INT, MPI_NO_OP,
                     win);
  MPI_Win_unlock(next, win);
  MPI_Win_free(&win);
}

static void files(const char* name) {
  MPI_File file;
  MPI_Datatype rows;
  MPI_Request request;
  int values[32] = {0};
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 128, values, 32, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Type_vector(4, 2, 2 * size, MPI_INT, &rows);
  MPI_Type_commit(&rows);
  MPI_File_set_view(file, rank * 8, MPI_INT, rows, "native", MPI_INFO_NULL);
  MPI_Type_free(&rows);
  MPI_File_write_all(file, values, 8, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, 0, values, 4, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static void* in_thread(void* tag) {
  int value = 0;
  for (int i = 0; i < 1000; ++i)
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, *(int*)tag, &value, 1, MPI_INT, rank, *(int*)tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void threads(int provided) {
  pthread_t all[4];
  int tags[4] = {10, 11, 12, 13};
  const int count = provided == MPI_THREAD_MULTIPLE ? 4 : 0;
  for (int i = 0; i < count; ++i) pthread_create(&all[i], NULL, in_thread, &tags[i]);
  for (int i = 0; i < count; ++i) pthread_join(all[i], NULL);
  if (rank == 0) printf("threads %d\n", count);
}

/* What a library refuses, in which order it looks at arguments, is its own affair: the program says
   what it got. */
static void refused(void) {
  int value = 0, got[8];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  got[0] = MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  got[1] = MPI_Send(&value, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  got[2] = MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  got[3] = MPI_Bcast(&value, 1, MPI_INT, size + 5, MPI_COMM_WORLD);
  got[4] = MPI_Gather(&value, 1, MPI_INT, &value, 1, MPI_INT, -7, MPI_COMM_WORLD);
  got[5] = MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE);
  got[6] = MPI_Wait(&request, MPI_STATUS_IGNORE);
  got[7] = MPI_Alltoall(&value, -3, MPI_INT, &value, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < 8; ++i) {
    int class = 0;
    MPI_Error_class(got[i], &class);
    printf("rank %d refused %d %d\n", rank, i, class);
  }
}

int main(int argc, char** argv) {
  int provided = 0;
  const int threaded = strcmp(argv[2], "threads") == 0;
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!threaded) one_sided(); /* Open MPI 4 has no windows over its messages beside threads */
  files(argv[1]);
  if (strcmp(argv[2], "refused") == 0) refused();
  if (threaded) threads(provided);
  if (strcmp(argv[2], "killed") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0) puts("intact");
  return 0;
}
