// A persistent all-to-all of the program that haichi may carry out (MPI 4.1, section 6.13).
//
// Its messages are persistent requests of the library's. The request that the program gets is one
// too, so that every function takes it as what it is: the receive of a message of no bytes which
// this rank sends to itself when all the others are complete.
#pragma once

#include <functional>
#include <memory>

#include "mpi/collectives/comm_peers.h"
#include "mpi/collectives/exchange_call.h"

namespace haichi::mpi {

/// Prepares the call and gives a request for it; `library` is the MPI library's own call.
/// Collective. Returns an MPI error code; it has been through the communicator's error handler.
int make_persistent_exchange(MPI_Comm comm, const std::shared_ptr<CommPeers>& peers,
                             const ExchangeCall& call, MPI_Request* request,
                             const std::function<int()>& library);

/// True if there are any in this process.
bool persistent_exchanges();

/// Starts the one that `request` stands for. False if it stands for none; else `result` is an MPI
/// error code.
bool start_persistent_exchange(MPI_Request* request, int& result);

/// The program frees `request`: forgets what it stands for, if anything.
void forget_persistent_exchange(MPI_Request request);

}  // namespace haichi::mpi
