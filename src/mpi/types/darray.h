// The pattern of a distributed array (MPI 4.1, section 5.1.4, MPI_Type_create_darray).
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/regions/pattern.h"

namespace haichi::mpi {

/// `numbers` are the constructor's integers in their order: size, rank, ndims, gsizes[ndims],
/// distribs[ndims], dargs[ndims], psizes[ndims], order.
Result<mpiio::PatternPtr> darray_pattern(const std::vector<int64_t>& numbers,
                                         mpiio::PatternPtr element, int64_t element_extent);

}  // namespace haichi::mpi
