// What haichi keeps with a communicator of the program, as an attribute of it.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/comm_peers.h"
#include "mpi/comm_state.h"

namespace haichi::mpi {

/// Gone with the communicator. Used by one call at a time, as MPI demands of collectives.
struct CommAttachment {
  int64_t calls = 0;     ///< of blocking collectives that haichi may take, until it is settled
  int64_t bytes = 0;     ///< received in them, as far as all ranks know
  bool settled = false;  ///< haichi has decided whether it takes them
  std::unique_ptr<CommState> state;
  std::shared_ptr<CommPeers> peers;  ///< null: its nonblocking collectives are the library's
};

/// The communicator's, or null if it has none.
CommAttachment* find_attachment(MPI_Comm comm);

/// The communicator's, made if it has none; null if the MPI library refuses.
CommAttachment* attachment_of(MPI_Comm comm);

/// Before MPI_Finalize: keeps what the communicators that are still there have to report, and
/// forgets them. Their own communicators are left to MPI_Finalize: to free one is collective, and
/// the ranks know no common order.
void forget_attachments();

}  // namespace haichi::mpi
