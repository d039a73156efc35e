// The messages of an exchange that are all issued at once.
#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/algorithm.h"
#include "generated/real.h"
#include "mpi/comm_peers.h"
#include "mpi/exchange_call.h"
#include "mpi/operations.h"

namespace haichi::mpi {

/// A block of the program's on its way, as the arguments of MPI_Isend or MPI_Irecv on
/// message_comm().
struct ExchangeMessage {
  bool send = false;
  void* data = nullptr;
  int64_t count = 0;
  MPI_Datatype type;
  int rank = 0;
  int tag = 0;
};

/// The functions that issue a message, or make a persistent request of it.
struct MessageFunctions {
  decltype(Real::Isend) send;
  decltype(Real::Isend_c) send_c;
  decltype(Real::Irecv) receive;
  decltype(Real::Irecv_c) receive_c;
};

/// Calls the one for this message; returns an MPI error code.
int give_to(const MessageFunctions& functions, const ExchangeMessage& message,
            MPI_Request* request);

/// This rank's messages, in the order in which they are to be issued. A rank's block for itself is
/// a message too. `tags`: under which each rank receives. Precondition: the candidate's schedule
/// waits for nothing but its end.
///
/// Sends of large blocks come first, other than in the schedule: nobody waits for them, and Open
/// MPI moves them faster so ("Sends before receives" in docs/notes.md).
std::vector<ExchangeMessage> messages_of(const CommPeers& peers, const std::vector<int>& tags,
                                         const ExchangeCall& call,
                                         const collectives::Candidate& candidate);

/// Requests of messages, of which all must be complete in the end.
class MessageRequests {
 public:
  std::vector<MPI_Request> all;

  /// Looks at them one after the other: whichever it is, the library gets on with all.
  Progress advance();
  /// The last error of a message that is complete, or MPI_SUCCESS.
  int error() const { return error_; }
  /// Persistent requests have been started anew.
  void restart() { complete_ = 0, error_ = MPI_SUCCESS; }

 private:
  size_t complete_ = 0;
  int error_ = MPI_SUCCESS;
};

}  // namespace haichi::mpi
