/* Rank 0 gives a file other hints than the rest: mpiexec -n N unequal_hints FILE HINT VALUE
 * Strided pieces, whose ranks' parts lie apart, then a contiguous byte of each rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 500, PIECE = 64, STRIDE = 128, PART = PIECES * STRIDE };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info info;
  MPI_Info_create(&info);
  if (rank == 0) MPI_Info_set(info, argv[2], argv[3]);
  MPI_File file;
  int wrong = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  MPI_Datatype strided;
  MPI_Type_vector(PIECES, PIECE, STRIDE, MPI_BYTE, &strided);
  MPI_Type_commit(&strided);
  char pieces[PIECES * PIECE], back[PIECES * PIECE];
  memset(pieces, 'a' + rank, sizeof pieces);
  for (int again = 0; again < 3 && wrong == MPI_SUCCESS; ++again) {
    MPI_File_set_view(file, (MPI_Offset)rank * PART, MPI_BYTE, strided, "native", MPI_INFO_NULL);
    wrong = MPI_File_write_all(file, pieces, sizeof pieces, MPI_BYTE, MPI_STATUS_IGNORE);
    memset(back, 0, sizeof back);
    MPI_File_read_at_all(file, 0, back, sizeof back, MPI_BYTE, MPI_STATUS_IGNORE);
    if (memcmp(back, pieces, sizeof back) != 0) wrong = -1;
  }
  MPI_File_close(&file);
  if (wrong == MPI_SUCCESS) printf("right\n");
  MPI_Type_free(&strided);
  MPI_Info_free(&info);
  MPI_Finalize();
  return wrong != MPI_SUCCESS;
}
