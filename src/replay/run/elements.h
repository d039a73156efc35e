// What a reduction works on.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace haichi::replay {

struct Elements {
  MPI_Datatype type;
  MPI_Op op;
  int count;
};

/// Sums of doubles where the bytes allow.
inline Elements elements_of(int64_t bytes) {
  if (bytes % int64_t(sizeof(double)) == 0)
    return {MPI_DOUBLE, MPI_SUM, int(bytes / int64_t(sizeof(double)))};
  return {MPI_BYTE, MPI_BOR, int(bytes)};
}

}  // namespace haichi::replay
