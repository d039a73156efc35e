/* Writes beside MPI: each rank gives 4 MiB to DIRECTORY/own-<rank> by write(2), and 64 KiB to
 * DIRECTORY/together collectively. Usage: beside DIRECTORY */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { OWN = 4 << 20, TOGETHER = 64 << 10 };

int main(int argc, char** argv) {
  static char data[OWN];
  char path[4096];
  int rank;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  snprintf(path, sizeof path, "%s/own-%d", argv[1], rank);
  const int own = open(path, O_CREAT | O_WRONLY, 0600);
  if (own < 0 || write(own, data, OWN) != OWN || close(own) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  snprintf(path, sizeof path, "%s/together", argv[1]);
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file))
    MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_File_write_at_all(file, (MPI_Offset)rank * TOGETHER, data, TOGETHER, MPI_BYTE,
                        MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
