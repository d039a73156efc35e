/* MPI_Alltoall so many times, with blocks of so many bytes. Usage: alltoall_times TIMES BYTES */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int times = atoi(argv[1]), bytes = atoi(argv[2]);
  char* const out = calloc((size_t)ranks, (size_t)bytes);
  char* const in = calloc((size_t)ranks, (size_t)bytes);
  for (int i = 0; i < times; ++i)
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
