// A three-dimensional Fourier transform by FFTW, there and back again, as a user would write it:
// FFTW moves the transposed slabs by MPI_Alltoall if all are equal, else by MPI_Alltoallv; by
// messages of its own where it has to keep its input.
//
//   fourier SIZE TURNS
//
// Rank 0 prints sums of the spectrum, all digits, and "error small" if the way back ends where it
// began.
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HOW (FFTW_ESTIMATE | FFTW_DESTROY_INPUT)

static double value(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z) {
  return sin((double)x) + cos(3.0 * (double)y) * (double)((z * 7 + x) % 5);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  const ptrdiff_t n = argc > 1 ? atol(argv[1]) : 16;
  const int turns = argc > 2 ? atoi(argv[2]) : 1;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  ptrdiff_t rows, first, columns, first_column;
  const ptrdiff_t room = fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &rows, &first,
                                                           &columns, &first_column);
  fftw_complex* data = fftw_alloc_complex((size_t)room);
  fftw_complex* spectrum = fftw_alloc_complex((size_t)room);
  fftw_plan there = fftw_mpi_plan_dft_3d(n, n, n, data, spectrum, MPI_COMM_WORLD, FFTW_FORWARD,
                                         HOW | FFTW_MPI_TRANSPOSED_OUT);
  fftw_plan back = fftw_mpi_plan_dft_3d(n, n, n, spectrum, data, MPI_COMM_WORLD, FFTW_BACKWARD,
                                        HOW | FFTW_MPI_TRANSPOSED_IN);
  double worst = 0;
  for (int turn = 0; turn < turns; ++turn) {
    for (ptrdiff_t i = 0; i < rows * n * n; ++i) {
      data[i][0] = value(first + i / (n * n), i / n % n, i % n) + turn;
      data[i][1] = 0;
    }
    fftw_execute(there);
    double sums[2] = {0, 0}, all[2];
    for (ptrdiff_t i = 0; i < columns * n * n; ++i) {
      sums[0] += fabs(spectrum[i][0]) * (double)((first_column + i / (n * n)) % 3 + 1);
      sums[1] += fabs(spectrum[i][1]);
    }
    MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("turn %d spectrum %.17g %.17g\n", turn, all[0], all[1]);
    fftw_execute(back);
    const double whole = (double)(n * n * n);
    for (ptrdiff_t i = 0; i < rows * n * n; ++i) {
      const double expected = value(first + i / (n * n), i / n % n, i % n) + turn;
      worst = fmax(worst, fabs(data[i][0] / whole - expected) + fabs(data[i][1] / whole));
    }
  }
  double error;
  MPI_Reduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("error %s\n", error < 1e-12 ? "small" : "LARGE");
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
  fftw_free(spectrum);
  MPI_Finalize();
  return 0;
}
