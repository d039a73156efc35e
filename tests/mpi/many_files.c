/* many_files: holds so many files open at a time, writes to each and reads it back.
 *
 *   mpiexec -n N many_files FOLDER FILES
 * Prints "right" once for each rank, or what failed first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 4096, kInts = 64 };

static MPI_File files[kMost];

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0, mine[kInts];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = atoi(argv[argc - 1]);
  const MPI_Offset at = rank * (MPI_Offset)sizeof mine;

  for (int f = 0; f < count && !wrong; ++f) {
    char path[4200], text[MPI_MAX_ERROR_STRING];
    int length;
    snprintf(path, sizeof path, "%s/%d", argv[argc - 2], f);
    const int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                                   MPI_INFO_NULL, &files[f]);
    if (code == MPI_SUCCESS) continue;
    MPI_Error_string(code, text, &length);
    printf("file %d: %s\n", f, text);
    wrong = 1;
  }
  for (int f = 0; f < count && !wrong; ++f) {
    for (int i = 0; i < kInts; ++i) mine[i] = (f * ranks + rank) * kInts + i;
    MPI_File_write_at_all(files[f], at, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < kInts; ++i) mine[i] = -1;
    MPI_File_read_at_all(files[f], at, mine, kInts, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < kInts; ++i) wrong += mine[i] != (f * ranks + rank) * kInts + i;
  }
  for (int f = 0; f < count && !wrong; ++f) wrong += MPI_File_close(&files[f]) != MPI_SUCCESS;
  if (!wrong) puts("right");
  if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
