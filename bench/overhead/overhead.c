/* What standing between a program and its MPI costs. A plain MPI program that knows nothing of
 * haichi; bench/overhead/run.py starts it with and without the shim.
 *
 * overhead calls FILE   nanoseconds of one MPI_File_get_view, for each of some batches (rank 0)
 * overhead reads FILE   the same of one MPI_File_read_at_all of an int, on a file that haichi hands
 *                       back: one rank has nobody to share with
 * overhead waits        the same of one MPI_Wait for nothing, which programs make by the million
 * overhead writes FILE  the same of one MPI_File_write_at_all of 64 KiB a rank in pieces that
 *                       interleave, on all ranks: the first batch is of calls that a report lists
 * overhead sends        the same of one MPI_Send of 8 bytes to nobody
 * overhead init         seconds of MPI_Init on the slowest rank
 *
 * MPI_File_get_view is intercepted, does next to nothing in an MPI library, and nothing is left
 * for haichi to do in it: what it takes more under haichi is the price of passing through. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../timing.h"

enum { BATCHES = 11, CALLS = 50000, WRITES = 200, PIECE = 4096, PIECES = 16 };

/* Prints the nanoseconds of a call, for each batch. */
static void measure(void (*call)(void*), void* context) {
  for (int batch = 0; batch < BATCHES; ++batch)
    printf("%.2f\n", 1e9 * seconds_a_call(CALLS, call, context));
}

static void get_view(void* context) {
  MPI_File file = *(MPI_File*)context;
  MPI_Offset disp;
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING];
  MPI_File_get_view(file, &disp, &etype, &filetype, datarep);
  /* Open MPI gives copies even of a predefined datatype. */
  if (etype != MPI_INT) MPI_Type_free(&etype);
  if (filetype != MPI_INT) MPI_Type_free(&filetype);
}

static void read_int(void* context) {
  int value;
  MPI_File_read_at_all(*(MPI_File*)context, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static int measure_calls(const char* path, void (*call)(void*)) {
  MPI_File file;
  int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fprintf(stderr, "overhead: cannot open %s\n", path);
    return 1;
  }
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  measure(call, &file);
  MPI_File_close(&file);
  return 0;
}

static void wait_for_nothing(void* context) {
  MPI_Request none = MPI_REQUEST_NULL;
  (void)context;
  MPI_Wait(&none, MPI_STATUS_IGNORE);
}

static void send_to_nobody(void* context) {
  MPI_Send(context, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

struct write {
  MPI_File file;
  char* data;
  int bytes;
};

static void write_all(void* context) {
  const struct write* const write = context;
  MPI_File_write_at_all(write->file, 0, write->data, write->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int measure_writes(const char* path, int rank) {
  static char data[PIECE * PIECES];
  int size, mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Datatype piece, part;
  MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * size, &part);
  MPI_Type_commit(&part);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fprintf(stderr, "overhead: cannot open %s\n", path);
    return 1;
  }
  MPI_File_set_view(file, (MPI_Offset)PIECE * rank, MPI_BYTE, part, "native", MPI_INFO_NULL);
  struct write write = {file, data, sizeof data};
  for (int batch = 0; batch < BATCHES; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = seconds_a_call(WRITES, write_all, &write);
    if (rank == 0) printf("%.2f\n", 1e9 * seconds);
  }
  MPI_File_close(&file);
  MPI_Type_free(&part);
  MPI_Type_free(&piece);
  return 0;
}

int main(int argc, char** argv) {
  int rank, failed = 0;
  double value = 0, begin = clock_now();
  MPI_Init(&argc, &argv);
  const double mine = clock_now() - begin;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 3 && strcmp(argv[1], "calls") == 0) {
    failed = rank == 0 && measure_calls(argv[2], get_view);
  } else if (argc == 3 && strcmp(argv[1], "reads") == 0) {
    failed = rank == 0 && measure_calls(argv[2], read_int);
  } else if (argc == 3 && strcmp(argv[1], "writes") == 0) {
    failed = measure_writes(argv[2], rank);
  } else if (argc == 2 && strcmp(argv[1], "waits") == 0) {
    if (rank == 0) measure(wait_for_nothing, NULL);
  } else if (argc == 2 && strcmp(argv[1], "sends") == 0) {
    if (rank == 0) measure(send_to_nobody, &value);
  } else if (argc == 2 && strcmp(argv[1], "init") == 0) {
    const double slowest = timing_slowest(mine);
    if (rank == 0) printf("%.6f\n", slowest);
  } else {
    fprintf(stderr,
            "usage: overhead calls FILE | overhead reads FILE | overhead writes FILE | overhead "
            "waits | overhead sends | overhead init\n");
    failed = 2;
  }
  MPI_Finalize();
  return failed;
}
