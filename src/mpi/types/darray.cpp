#include "mpi/types/darray.h"

#include <errno.h>
#include <mpi.h>

#include <algorithm>

namespace haichi::mpi {
namespace {

using mpiio::Pattern;
using mpiio::PatternPtr;

/// One dimension: which of `global` indices belong to process `coordinate` of `processes`, each
/// index being `inner` at `stride` bytes.
PatternPtr distributed(PatternPtr inner, int64_t stride, int64_t global, int64_t block,
                       int64_t processes, int64_t coordinate) {
  const int64_t first = coordinate * block;
  if (first >= global) return Pattern::block(0);
  const int64_t round = block * processes;  // indices from one block of a process to its next
  const int64_t whole =
      std::max<int64_t>(0, (global - first - block) / round + 1) * int64_t(global - first >= block);
  const int64_t rest_begin = first + whole * round;
  const int64_t rest = std::clamp<int64_t>(global - rest_begin, 0, block);
  std::vector<Pattern::Placed> parts;
  parts.push_back(
      {first * stride, Pattern::loop(Pattern::loop(inner, block, stride), whole, round * stride)});
  parts.push_back({rest_begin * stride, Pattern::loop(inner, rest, stride)});
  return Pattern::sequence(std::move(parts));
}

}  // namespace

Result<PatternPtr> darray_pattern(const std::vector<int64_t>& numbers, PatternPtr element,
                                  int64_t element_extent) {
  const size_t dims = size_t(numbers[2]);
  const int64_t* const sizes = &numbers[3];
  const int64_t* const kinds = sizes + dims;
  const int64_t* const arguments = kinds + dims;
  const int64_t* const grid = arguments + dims;
  const bool fortran = grid[dims] == MPI_ORDER_FORTRAN;
  // The process grid is row major whatever the order of the array.
  std::vector<int64_t> coordinates(dims);
  int64_t rank = numbers[1];
  for (size_t d = dims; d-- > 0;) {
    coordinates[d] = rank % grid[d];
    rank /= grid[d];
  }
  PatternPtr pattern = std::move(element);
  int64_t stride = element_extent;
  for (size_t k = 0; k < dims; ++k) {
    const size_t d = fortran ? k : dims - 1 - k;
    int64_t block, processes = grid[d], coordinate = coordinates[d];
    const bool standard = arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
    if (kinds[d] == MPI_DISTRIBUTE_NONE) {
      block = sizes[d], processes = 1, coordinate = 0;
    } else if (kinds[d] == MPI_DISTRIBUTE_BLOCK) {
      block = standard ? (sizes[d] + processes - 1) / processes : arguments[d];
    } else if (kinds[d] == MPI_DISTRIBUTE_CYCLIC) {
      block = standard ? 1 : arguments[d];
    } else {
      return fail(EINVAL, "unknown distribution {} in a distributed array", kinds[d]);
    }
    pattern = distributed(pattern, stride, sizes[d], block, processes, coordinate);
    stride *= sizes[d];
  }
  return pattern;
}

}  // namespace haichi::mpi
