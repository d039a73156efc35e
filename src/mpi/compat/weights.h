// The addresses that stand for weights of a distributed graph. They are numbers in Open MPI and the
// MPI-5 ABI, but data of libmpi in MPICH: see "Predefined handles" in docs/notes.md.
#pragma once

namespace haichi::mpi {

/// MPI_UNWEIGHTED.
const int* unweighted();

/// MPI_WEIGHTS_EMPTY.
const int* weights_empty();

}  // namespace haichi::mpi
