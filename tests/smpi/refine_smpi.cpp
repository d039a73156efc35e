// A ping-pong on two ranks that SimGrid simulates, its curve refined and its switches found as
// `haichi measure --refine --switches` does it, and sizes that chance draws held against the curve.
// Usage:
//
//   smpirun -np 2 ... refine-smpi WITHIN
//
// Prints how many points the curve has, the mean and the largest error of the lines between them at
// 60 random sizes, the mean error with powers of four alone, and the sizes behind which the time
// steps, as one JSON object. Simulated time has no noise, so each size is measured once.
//
// It is compiled by smpicxx, so it and what it links are plain C++ with no MPI of haichi's below.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "measure/refinement.h"

namespace {

using haichi::measure::Known;

constexpr int64_t kSmallest = 4, kLargest = 4 << 20;
constexpr size_t kMostPoints = 30;
constexpr int kRandomSizes = 60;

// Half of a round trip, on the first rank. The other one follows whatever comes until it is told to
// stop.
Known measure(int64_t bytes) {
  std::vector<char> memory(static_cast<size_t>(bytes));
  MPI_Send(&bytes, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Send(memory.data(), int(bytes), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(memory.data(), int(bytes), MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double seconds = (MPI_Wtime() - begin) / 2;
  return {bytes, seconds, seconds, seconds};
}

void follow() {
  for (;;) {
    int64_t bytes = 0;
    MPI_Recv(&bytes, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes == 0) return;
    std::vector<char> memory(static_cast<size_t>(bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(memory.data(), int(bytes), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(memory.data(), int(bytes), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

double error(const std::vector<Known>& curve, const Known& at) {
  size_t behind = 1;
  while (curve[behind].bytes < at.bytes) ++behind;
  return std::abs(between(curve[behind - 1], curve[behind], at.bytes) / at.median - 1);
}

struct Errors {
  double mean, most;
};

Errors errors(const std::vector<Known>& curve, const std::vector<Known>& random) {
  Errors all{0, 0};
  for (const Known& each : random) {
    all.mean += error(curve, each) / double(random.size());
    all.most = std::max(all.most, error(curve, each));
  }
  return all;
}

std::vector<Known> at_random_sizes() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> power(std::log2(kSmallest), std::log2(kLargest));
  std::vector<Known> all;
  for (int i = 0; i < kRandomSizes; ++i)
    all.push_back(measure(int64_t(std::exp2(power(random))) / 4 * 4));
  return all;
}

void lead(double within) {
  std::vector<Known> grid;
  for (int64_t size = kSmallest; size <= kLargest; size *= 4) grid.push_back(measure(size));
  std::vector<Known> curve = grid;
  const auto switches = haichi::measure::find_switches(
      curve, kMostPoints, [](int64_t bytes) { return std::optional(measure(bytes)); });
  haichi::measure::Refinement refinement(curve, within, kMostPoints);
  while (const auto size = refinement.next()) refinement.add(measure(*size));
  const std::vector<Known> random = at_random_sizes();
  const Errors refined = errors(refinement.curve(), random);
  std::printf("{\"points\": %zu, \"mean_error\": %.6f, \"most_error\": %.6f, ",
              refinement.curve().size(), refined.mean, refined.most);
  std::printf("\"mean_error_of_powers\": %.6f, \"switches\": [", errors(grid, random).mean);
  const char* comma = "";
  for (const auto& each : switches) {
    std::printf("%s%lld", comma, static_cast<long long>(each.below.bytes));
    comma = ", ";
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double within = argc > 1 ? std::atof(argv[1]) : 0;
  if (rank == 0) {
    if (within > 0) lead(within);
    const int64_t stop = 0;
    MPI_Send(&stop, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
  }
  if (rank == 1) follow();
  MPI_Finalize();
  return within > 0 ? 0 : 2;
}
