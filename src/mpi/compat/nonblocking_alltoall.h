// How MPI libraries carry out their own nonblocking all-to-all.
#pragma once

#include <cstdint>

namespace haichi::mpi {

/// Largest block in bytes for which the library's MPI_Ialltoall on so many ranks needs fewer
/// messages than one for each peer; 0 if it never does.
///
/// MPICH 4 and 5 take Bruck's algorithm for blocks of up to MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE bytes
/// on 8 ranks or more (MPIR_Ialltoall_intra_sched_auto,
/// https://github.com/pmodels/mpich/blob/main/src/mpi/coll/mpir_coll.c). Open MPI has the same in
/// its source, but only ever takes one message for each peer, in order of rank
/// (https://github.com/open-mpi/ompi/blob/main/ompi/mca/coll/libnbc/nbc_ialltoall.c).
int64_t fewer_messages_up_to(int ranks);

/// Largest block in bytes for which it lets its ranks send as they like. MPICH takes pairwise
/// exchange, one peer after the other, above MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE (same source).
int64_t out_of_step_up_to();

}  // namespace haichi::mpi
