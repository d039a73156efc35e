#include "mpi/collectives/exchange_soundness.h"

#include "generated/real.h"

namespace haichi::mpi {
namespace {

/// Puts a harmless datatype where there is nothing of it and no library looks. False if one that is
/// looked at is unusable.
bool make_types_usable(ExchangeSide& side, bool gathered) {
  MPI_Datatype known = handles().byte;  // mostly they are all the same
  for (size_t r = 0; r < side.types.size(); ++r) {
    MPI_Datatype& type = side.types[r];
    if (type == known) continue;
    const bool nothing = side.at_bytes && side.counts[r] == 0;
    if (nothing && !looks_at_types_of_nothing())
      type = handles().byte;
    else if (usable(type) || (gathered && type != handles().datatype_null && gathers_uncommitted()))
      known = type;
    else
      return false;
  }
  return true;
}

/// True if a block of the side begins at a null pointer.
bool has_block_at_null(const ExchangeSide& side) {
  if (side.buffer != nullptr) return false;  // MPI_BOTTOM is null, too
  if (side.types.empty()) return false;      // among no neighbours
  if (side.counts.empty() || side.one_block) return at_null(nullptr, side.count, side.types[0]);
  for (int r = 0; r < int(side.counts.size()); ++r) {
    MPI_Count lower = 0, extent = 0;
    const MPI_Datatype type = side.type_of(r);
    if (real().Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS) return true;
    const auto* const begin = reinterpret_cast<const void*>(side.begin_of(r, extent));
    if (at_null(begin, side.count_of(r), type)) return true;
  }
  return false;
}

bool is_sound(ExchangeSide& side, bool gathered = false) {
  return !side.has_negative_count() && side.buffer != MPI_IN_PLACE &&
         make_types_usable(side, gathered) && !has_block_at_null(side);
}

}  // namespace

std::optional<ExchangeCall> sound(ExchangeCall call) {
  const bool fine =
      is_sound(call.send) && is_sound(call.receive, call.kind == collectives::Kind::all_gather);
  return fine ? std::optional(std::move(call)) : std::nullopt;
}

bool own_block_refused(const ExchangeCall& call, int rank) {
  const ExchangeSide &send = call.send, &receive = call.receive;
  if (call.in_place || send.count == 0 || send.types != receive.types ||
      send.count != receive.count_of(rank))
    return false;
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(receive.types[0], &lower, &extent);
  return send.buffer == static_cast<std::byte*>(receive.buffer) + receive.begin_of(rank, extent) &&
         refuses_same_buffers();
}

}  // namespace haichi::mpi
