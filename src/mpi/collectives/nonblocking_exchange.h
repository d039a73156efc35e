// A nonblocking all-to-all of the program that haichi may carry out.
//
// All its messages are issued in the call, as the library's own point-to-point messages with the
// program's datatypes. What is left is to wait for them.
#pragma once

#include <functional>
#include <memory>

#include "mpi/collectives/comm_peers.h"
#include "mpi/collectives/exchange_call.h"

namespace haichi::mpi {

/// Starts the call and gives a request for it; `library` is the MPI library's own call. Local.
/// Returns an MPI error code; it has been through the communicator's error handler.
int start_exchange(MPI_Comm comm, const std::shared_ptr<CommPeers>& peers, const ExchangeCall& call,
                   MPI_Request* request, const std::function<int()>& library);

}  // namespace haichi::mpi
