// The messages of an exchange that are all issued at once.
#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/algorithm.h"
#include "generated/real.h"
#include "mpi/collectives/comm_peers.h"
#include "mpi/collectives/exchange_call.h"
#include "mpi/requests/operations.h"

namespace haichi::mpi {

/// The functions that issue a message, or make a persistent request of it.
struct MessageFunctions {
  decltype(Real::Isend) send;
  decltype(Real::Isend_c) send_c;
  decltype(Real::Irecv) receive;
  decltype(Real::Irecv_c) receive_c;
};

/// Issues this rank's messages, blocks of the program's with its own datatypes, on message_comm().
/// A rank's block for itself is a message too. `tags`: under which each rank receives.
/// Precondition: the candidate's schedule waits for nothing but its end. Returns an MPI error code;
/// after an error `requests` has those of the messages before it.
int issue_messages(const CommPeers& peers, const std::vector<int>& tags, const ExchangeCall& call,
                   const collectives::Candidate& candidate, const MessageFunctions& functions,
                   std::vector<MPI_Request>& requests);

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
