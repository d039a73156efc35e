// Whether all ranks of the job have haichi, and the same version of it. One that was started
// without it (another program of the same job, linked statically, or an environment that the
// launcher did not pass on) takes part in nothing that haichi does at MPI_Init: the others would
// wait for it for ever.
#pragma once

#include <cstdint>

namespace haichi::mpi {

/// True on every rank of MPI_COMM_WORLD, or on none that calls it: also where versions differ,
/// whose ranks would not understand each other (the roll call itself stays as it is from version to
/// version). Waits at most twice `wait_ns` for one that does not call; says on standard error which
/// ranks do not answer, after a sixth of that and at the end. For further words of one that has
/// answered it waits as long as it takes.
///
/// By messages on MPI_COMM_WORLD with the highest tag, up and down a flat tree. A rank without
/// haichi that has others below it in the tree (the last rank, and in jobs of more than 33 ranks
/// one of 32) gets one from each of them, which it could take for the program's and MPICH 5
/// stumbles over in MPI_Finalize: then the job ends here, with exit code 78. (A collective
/// operation would be worse: one that is never over blocks the program's own.)
bool all_have_haichi(int64_t wait_ns);

}  // namespace haichi::mpi
