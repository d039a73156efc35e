/* Wrong calls of MPI_Neighbor_alltoall and its like, after some right ones; prints the class of
 * the error of each, which is the MPI library's to find. */
#include <mpi.h>
#include <stdio.h>

static void tell(const char* what, int code) {
  int rank, class;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Error_class(code, &class);
  if (rank == 0) printf("%s: %d\n", what, class);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, sent[64] = {0}, received[64], few[2] = {1, 1}, wrong[2] = {1, -1}, at[2] = {0, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm ring;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  for (int call = 0; call < 3; ++call) {
    tell("right", MPI_Neighbor_alltoallv(sent, few, at, MPI_INT, received, few, at, MPI_INT, ring));
    tell("negative count",
         MPI_Neighbor_alltoallv(sent, few, at, MPI_INT, received, wrong, at, MPI_INT, ring));
    tell("no topology",
         MPI_Neighbor_allgather(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD));
  }
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
