// What a new user compiles first: ranks write a shared file in turns of 4 KiB, read it back and say
// whether they got what they wrote.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 4, TURNS = 64, TURN = 1024 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* out = malloc(sizeof(int) * TURNS * TURN);
  int* in = calloc(TURNS * TURN, sizeof(int));
  for (int i = 0; i < TURNS * TURN; ++i) out[i] = rank * 1000003 + i;

  MPI_Datatype turn, turns;
  MPI_Type_contiguous(TURN, MPI_INT, &turn);
  MPI_Type_create_resized(turn, 0, (MPI_Aint)sizeof(int) * TURN * ranks, &turns);
  MPI_Type_commit(&turns);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
    MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * TURN * rank, MPI_INT, turns, "native",
                    MPI_INFO_NULL);
  int right = 1;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_File_write_at_all(file, 0, out, TURNS * TURN, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, in, TURNS * TURN, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < TURNS * TURN; ++i) right = right && in[i] == out[i];
  }
  MPI_File_close(&file);
  int all = 0;
  MPI_Reduce(&right, &all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "right" : "wrong");
  MPI_Type_free(&turn);
  MPI_Type_free(&turns);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
