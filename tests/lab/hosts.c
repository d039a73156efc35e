// Prints, for each rank: the rank, its host, how many ranks share its memory, and $GREETING.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, length, sharing;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(name, &length);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &sharing);
  printf("%d %s %d %s\n", rank, name, sharing, getenv("GREETING"));
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
