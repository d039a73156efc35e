/* threads: collective accesses of several threads at once, each on a file and communicator of its
 * own.
 *
 *   mpiexec -n N threads DIRECTORY [rounds=20]
 * Prints "threads: right" on rank 0 if every thread read back what it wrote, "threads: no
 * MPI_THREAD_MULTIPLE" if the library does not give it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 3, kPieces = 40, kSize = 48 };

static int rank, ranks, rounds = 20;
static const char* directory;

typedef struct {
  int number;
  MPI_Comm comm;
  int wrong;
} Work;

/* The same bytes, one more everywhere, by the other kinds of collective access. */
static void nonblocking_and_split(MPI_File file, unsigned char* data, Work* w) {
  enum { kBytes = kPieces * kSize };
  unsigned char back[kBytes];
  MPI_Request request;
  for (int i = 0; i < kBytes; ++i) data[i]++;
  MPI_File_iwrite_at_all(file, 0, data, kBytes, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at_all_begin(file, 0, back, kBytes, MPI_BYTE);
  MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE);
  w->wrong |= memcmp(data, back, kBytes) != 0;
}

static void* work(void* argument) {
  Work* w = argument;
  char path[4096];
  snprintf(path, sizeof path, "%s/thread%d.dat", directory, w->number);
  MPI_Datatype view;
  MPI_Type_vector(kPieces, kSize, kSize * ranks, MPI_BYTE, &view);
  MPI_Type_commit(&view);
  unsigned char data[kPieces * kSize], back[sizeof data];
  for (int round = 0; round < rounds; ++round) {
    MPI_File file;
    if (MPI_File_open(w->comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) {
      w->wrong = 1;
      return NULL;
    }
    MPI_File_set_view(file, rank * kSize, MPI_BYTE, view, "native", MPI_INFO_NULL);
    memset(data, w->number * 64 + rank * 8 + round % 8, sizeof data);
    MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE);
    w->wrong |= memcmp(data, back, sizeof data) != 0;
    nonblocking_and_split(file, data, w);
    MPI_File_close(&file);
  }
  MPI_Type_free(&view);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  directory = argv[1];
  if (argc > 2) rounds = atoi(argv[2]);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("threads: no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  Work works[kThreads];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    works[i] = (Work){i, MPI_COMM_NULL, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, &works[i]);
  int wrong = 0, any = 0;
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    wrong |= works[i].wrong;
    MPI_Comm_free(&works[i].comm);
  }
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("threads: %s\n", any ? "wrong" : "right");
  MPI_Finalize();
  return any;
}
