// Hooks of the blocking all-gather collectives.
#include "generated/by_allgather.h"
#include "mpi/collectives/exchange_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Kind;

/// What comes from so many ranks.
template <class Call>
ExchangeSide received(const Call& call, size_t ranks) {
  if constexpr (requires { call.recvcounts; })
    return placed_side(call.recvbuf, ranks, call.recvcounts, call.displs, call.recvtype);
  else
    return {call.recvbuf, {call.recvtype}, call.recvcount};
}

/// Nothing where something is wrong.
template <class Call>
std::optional<ExchangeCall> allgather_call(const Call& call, const CommState& state) {
  auto exchange =
      sound({Call::kPlainName, own_block_side(call.sendbuf, call.sendcount, call.sendtype),
             received(call, size_t(state.placement.ranks())), Kind::all_gather,
             call.sendbuf == MPI_IN_PLACE});
  if (exchange && own_block_refused(*exchange, state.rank)) exchange.reset();
  return exchange;
}

template <class Call>
int allgather(const Call& call) {
  return carry_out(
      call, [&] { return bytes_received(call); },
      [&](const CommState& state) { return allgather_call(call, state); });
}

}  // namespace
}  // namespace haichi::mpi
