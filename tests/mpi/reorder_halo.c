/* Heat on a plate in blocks on a grid of ranks: prints the temperatures' sum over the rows of the
 * plate, as rank 0 of the grid gathers them, to the last bit.
 *
 *   mpiexec -n N reorder_halo ROWS COLUMNS STEPS    N = ROWS * COLUMNS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 16
static double now[SIDE + 2][SIDE + 2], next[SIDE + 2][SIDE + 2];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int extents[] = {atoi(argv[1]), atoi(argv[2])}, periods[] = {0, 1};
  int at[2], rank, ranks, up, down, left, right;
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 1, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Comm_size(grid, &ranks);
  MPI_Cart_coords(grid, rank, 2, at);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  MPI_Datatype column;
  MPI_Type_vector(SIDE, 1, SIDE + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j)
      now[i][j] = (double)((at[0] * SIDE + i) * (at[1] * SIDE + j) % 97);
  for (int step = 0; step < atoi(argv[3]); ++step) {
    MPI_Sendrecv(now[1] + 1, SIDE, MPI_DOUBLE, up, 0, now[SIDE + 1] + 1, SIDE, MPI_DOUBLE, down, 0,
                 grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[SIDE] + 1, SIDE, MPI_DOUBLE, down, 1, now[0] + 1, SIDE, MPI_DOUBLE, up, 1,
                 grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[1] + 1, 1, column, left, 2, now[1] + SIDE + 1, 1, column, right, 2, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now[1] + SIDE, 1, column, right, 3, now[1], 1, column, left, 3, grid,
                 MPI_STATUS_IGNORE);
    for (int i = 1; i <= SIDE; ++i)
      for (int j = 1; j <= SIDE; ++j)
        next[i][j] = now[i][j] + 0.1 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] +
                                        now[i][j + 1] - 4 * now[i][j]);
    for (int i = 1; i <= SIDE; ++i) memcpy(now[i] + 1, next[i] + 1, SIDE * sizeof(double));
  }
  double mine = 0;
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j) mine += now[i][j];
  double* const all = malloc(sizeof(double) * (size_t)ranks);
  MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, grid);
  for (int r = 0; rank == 0 && r < ranks; ++r) printf("%d %a\n", r, all[r]);
  free(all);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
