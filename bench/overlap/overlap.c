/* What of a nonblocking collective write a program can hide behind its computing. A plain MPI
 * program that knows nothing of haichi; bench/overlap/run.py starts it.
 *
 *   mpiexec -n N overlap FILE MEBIBYTES SECONDS
 * Every rank writes so many MiB by MPI_File_iwrite_all, and computes for so many seconds of a
 * processor between that and MPI_Wait. Prints the seconds of the slowest rank: for
 * the write alone, for the computing alone, for both. Exit code 1 if a call failed or the file has
 * not its size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../timing.h"

static void check(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static volatile double sink;

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes so many seconds of a processor: longer, where somebody else has it too. */
static void compute(double seconds) {
  const double end = processor_time() + seconds;
  while (processor_time() < end)
    for (int i = 1; i < 10000; ++i) sink = sink * 0.5 + 1.0 / i;
}

/* Seconds of the slowest rank for a write of so many bytes, from its call to the end of its wait,
 * and so much computing. */
static double write_and_compute(MPI_File file, const char* data, int bytes, double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begun = timing_begin(MPI_COMM_WORLD);
  const MPI_Offset at = (MPI_Offset)bytes * rank;
  if (bytes > 0) check(MPI_File_iwrite_at_all(file, at, data, bytes, MPI_BYTE, &request));
  compute(seconds);
  check(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return timing_slowest(clock_now() - begun);
}

int main(int argc, char** argv) {
  MPI_File file;
  MPI_Offset size = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[2]) << 20;
  char* const data = malloc((size_t)bytes);
  memset(data, rank + 1, (size_t)bytes);
  check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                      &file));
  write_and_compute(file, data, bytes,
                    0); /* makes the file's pages, and a thread if there is one */
  const double alone = write_and_compute(file, data, bytes, 0);
  const double computing = write_and_compute(file, data, 0, atof(argv[3]));
  const double both = write_and_compute(file, data, bytes, atof(argv[3]));
  check(MPI_File_get_size(file, &size));
  if (size != (MPI_Offset)bytes * ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  check(MPI_File_close(&file));
  if (rank == 0) printf("%.6f\n%.6f\n%.6f\n", alone, computing, both);
  free(data);
  MPI_Finalize();
  return 0;
}
