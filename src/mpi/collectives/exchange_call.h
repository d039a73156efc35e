// An exchange of the program's, an all-to-all or an all-gather, that haichi may carry out.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "mpi/collectives/comm_state.h"

namespace haichi::mpi {

/// One side of the call: buffer, datatypes, and how much there is for or from each rank; among
/// neighbours, each of them, and a `rank` is a place in their list.
struct ExchangeSide {
  void* buffer = nullptr;
  std::vector<MPI_Datatype> types;   ///< one for all ranks, or by rank
  int64_t count = 0;                 ///< elements of each block, if `counts` is empty
  std::vector<int64_t> counts = {};  ///< by rank
  /// By rank: where the block begins, in extents of the type unless `at_bytes`.
  std::vector<int64_t> at = {};
  bool at_bytes = false;   ///< `at` counts bytes
  bool one_block = false;  ///< the same `count` for all ranks: of an all-gather, what is sent

  MPI_Datatype type_of(int rank) const { return types[types.size() == 1 ? 0 : size_t(rank)]; }
  int64_t count_of(int rank) const { return counts.empty() ? count : counts[size_t(rank)]; }
  bool has_negative_count() const {
    return count < 0 || std::any_of(counts.begin(), counts.end(), [](int64_t n) { return n < 0; });
  }
  /// Bytes from the buffer's begin to a rank's block; `extent` is that of its type.
  int64_t begin_of(int rank, int64_t extent) const {
    if (one_block) return 0;
    if (at.empty()) return rank * count * extent;
    return at[size_t(rank)] * (at_bytes ? 1 : extent);
  }
  /// Size in bytes of each rank's block; empty if `counts` is.
  std::vector<int64_t> block_bytes() const;
};

struct ExchangeCall {
  std::string_view collective;  ///< as in CollectiveKey
  ExchangeSide send, receive;
  collectives::Kind kind = collectives::Kind::all_to_all;
  bool in_place = false;  ///< of an all-gather: `send` is not looked at
  bool regular() const { return kind != collectives::Kind::neighbours && receive.counts.empty(); }
  /// Of a block, of the mean one where all ranks know all sizes; -1 where they do not.
  int64_t block_bytes() const;
  /// `block` is block_bytes(), not 0.
  CollectiveKey key(int64_t block) const;
};

/// The call as a schedule of this rank sees it. Keeps the sizes that `exchange` points to; the
/// neighbours are the caller's, needed for an exchange among them only.
class ExchangeView {
 public:
  ExchangeView(const ExchangeCall& call, const placement::Placement& placement, int rank,
               const collectives::Neighbours* neighbours = nullptr);
  ExchangeView(const ExchangeView&) = delete;
  ExchangeView& operator=(const ExchangeView&) = delete;

 private:
  const std::vector<int64_t> out_, in_;

 public:
  const collectives::Exchange exchange;
};

/// Carries out the call by the candidate whose turn it is, `library` if that is the MPI library's
/// own. Returns an MPI error code; it has been through the communicator's error handler.
int run_exchange(MPI_Comm comm, CommState& state, const ExchangeCall& call,
                 const std::function<int()>& library);

}  // namespace haichi::mpi
