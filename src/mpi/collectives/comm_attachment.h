// What haichi keeps with a communicator of the program, as an attribute of it.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/collectives/comm_peers.h"
#include "mpi/collectives/comm_state.h"

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

/// Bytes that a rank has received on a communicator, so many that a state for it costs nothing
/// beside them.
inline constexpr int64_t kBytesWorthAState = 8 << 20;

/// What haichi keeps with the communicator of a call of a blocking collective; null if it takes
/// none in this process. A communicator of one rank, of one node (unless asked for) or of two
/// groups is settled some day and has no state.
CommAttachment* attachment_for_call(MPI_Comm comm);

/// The library carried out a call on a communicator that is not settled yet; this rank received so
/// many bytes, or 0 where the ranks do not know that it is the same on all. Makes the state when it
/// may be worth it: many programs make no second call. Behind the call, and only where the library
/// had no objection: so all ranks are here, also where one of them gave wrong arguments before.
/// Collective.
void library_did(CommAttachment& attached, MPI_Comm comm, int result, int64_t bytes);

/// Before MPI_Finalize: keeps what the communicators that are still there have to report, and
/// forgets them. Their own communicators are left to MPI_Finalize: to free one is collective, and
/// the ranks know no common order.
void forget_attachments();

}  // namespace haichi::mpi
