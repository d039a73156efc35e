// An all-to-all-like call of the program that haichi may carry out.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "mpi/comm_state.h"

namespace haichi::mpi {

/// One side of the call: buffer, datatype, and how much there is for or from each rank.
struct ExchangeSide {
  void* buffer = nullptr;
  MPI_Datatype type;
  int64_t count = 0;                 ///< elements of each block, if `counts` is empty
  std::vector<int64_t> counts = {};  ///< by rank
  std::vector<int64_t> at = {};      ///< by rank: where the block begins, in extents of the type

  int64_t count_of(int rank) const { return counts.empty() ? count : counts[size_t(rank)]; }
};

struct ExchangeCall {
  std::string_view collective;  ///< as in CollectiveKey
  ExchangeSide send, receive;
  bool regular() const { return receive.counts.empty(); }
};

/// Carries out the call by the candidate whose turn it is, `library` if that is the MPI library's
/// own. Returns an MPI error code; it has been through the communicator's error handler.
int run_exchange(MPI_Comm comm, CommState& state, const ExchangeCall& call,
                 const std::function<int()>& library);

}  // namespace haichi::mpi
