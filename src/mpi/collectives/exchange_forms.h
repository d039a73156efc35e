// The all-to-alls of the program that give it a request: nonblocking and persistent ones, which are
// alike but for what is done with the exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/collectives/exchange_arguments.h"
#include "mpi/collectives/nonblocking_exchange.h"
#include "mpi/collectives/nonblocking_peers.h"
#include "mpi/collectives/persistent_exchange.h"
#include "mpi/job/abort_job.h"

namespace haichi::mpi {

/// `exchange_of(peers)` is the call as an exchange, or nothing if it is the MPI library's; `begin`
/// is start_exchange or make_persistent_exchange.
template <class Call, class ExchangeOf>
int begin_exchange(const Call& call, decltype(&start_exchange) begin, ExchangeOf exchange_of) {
  const auto peers = call.request ? peers_of(call.comm) : nullptr;
  return unless_out_of_memory("a nonblocking or persistent collective", [&] {
    const std::optional<ExchangeCall> exchange = peers ? exchange_of(*peers) : std::nullopt;
    return exchange
               ? begin(call.comm, peers, *exchange, call.request, [&] { return call.real_call(); })
               : call.real_call();
  });
}

template <class Call>
int begin_alltoall(const Call& call, decltype(&start_exchange) begin) {
  return begin_exchange(call, begin, [&](const CommPeers& peers) {
    return alltoall_call(call, peers.placement.ranks());
  });
}

}  // namespace haichi::mpi
