// The datatypes of the fake library: bytes, numbers, and rows of them with holes behind.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace haichi::test {

struct Datatype {
  int64_t size, extent;
  int combiner;
  int count;         ///< of old ones in a contiguous one
  MPI_Datatype old;  ///< that it was made of
};

Datatype datatype(MPI_Datatype type);

}  // namespace haichi::test
