// What is asked of an exchange: every rank has a block of bytes for every rank, another one for
// each (MPI_Alltoall and its like) or one for all (MPI_Allgather); or it has blocks for its
// neighbours only. This is one rank's view of it.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/neighbours.h"
#include "placement/placement.h"
#include "plan/schedule.h"

namespace haichi::collectives {

enum class Kind : uint8_t {
  all_to_all,  ///< a rank's blocks for the others differ
  all_gather,  ///< a rank has one block, for all; everybody knows the sizes of all
  neighbours,  ///< a rank has blocks for its neighbours; nobody knows the sizes of others
};

/// One rank's part. Cheap to copy; what it points to must outlive the schedules made from it. Where
/// it says `peer`, an exchange among neighbours has a place in its list of them.
struct Exchange {
  const placement::Placement* placement = nullptr;
  int me = 0;
  /// Bytes from each rank to each rank, if all are equal (MPI_Alltoall); else the spans count.
  int64_t block = 0;
  /// Bytes from this rank to each rank, and from each rank to this one. Of an all_to_all the
  /// others' numbers are not known here; of an all_gather `in` is the same on all ranks, and `out`
  /// is not looked at. Both empty if all are equal. Among neighbours always by place; nobody's
  /// block has none.
  std::span<const int64_t> out = {}, in = {};
  Kind kind = Kind::all_to_all;
  /// Of an all_gather: this rank's block is already where it would be received.
  bool in_place = false;
  const Neighbours* neighbours = nullptr;  ///< of an exchange among them

  int ranks() const { return placement->ranks(); }
  bool regular() const { return kind != Kind::neighbours && in.empty(); }
  /// Blocks in the buffers.
  int blocks_sent() const {
    return kind == Kind::neighbours ? int(neighbours->destinations.size()) : ranks();
  }
  int blocks_received() const {
    return kind == Kind::neighbours ? int(neighbours->sources.size()) : ranks();
  }
  int64_t bytes_to(int peer) const {
    if (kind == Kind::all_gather) return bytes_from(me);
    return regular() ? block : out[size_t(peer)];
  }
  int64_t bytes_from(int peer) const { return regular() ? block : in[size_t(peer)]; }
  /// There is a block of this rank for itself, and it has to be moved.
  bool moves_own() const { return !in_place && bytes_to(me) > 0; }
  /// The rank that is `distance` after this one, counted round; distance may be negative, down to
  /// -ranks().
  int shifted(int distance) const { return (me + distance + ranks()) % ranks(); }

  // The buffers of its schedules: memory that an algorithm needs for itself, and a buffer for each
  // block. A slice lies within one block. The blocks that an all_gather sends are one and the same.
  static constexpr int kTemporary = 0;
  static constexpr int send_buffer(int peer) { return 1 + 2 * peer; }
  static constexpr int receive_buffer(int peer) { return 2 + 2 * peer; }
  plan::Slice send_block(int peer) const {
    return {in_place ? receive_buffer(me) : send_buffer(peer), 0, bytes_to(peer)};
  }
  plan::Slice receive_block(int peer) const { return {receive_buffer(peer), 0, bytes_from(peer)}; }
  static plan::Slice temporary(int64_t begin, int64_t size) { return {kTemporary, begin, size}; }
};

}  // namespace haichi::collectives
