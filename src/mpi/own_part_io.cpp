#include "mpi/own_part_io.h"

#include "mpi/bounce_memory.h"
#include "mpiio/own_part.h"
#include "mpiio/read_cost.h"
#include "mpiio/sieve.h"

namespace haichi::mpi {
namespace {

int64_t size_of(const mpiio::Access& access) { return access.end() - access.begin(); }

/// Bytes that pass through memory of our own.
int64_t bounced(const Request& request, bool sieve) {
  if (sieve) return request.access.hull().size();
  const int64_t bytes = size_of(request.access);
  return request.memory->contiguous_at(0, bytes) ? 0 : bytes;
}

}  // namespace

bool reads_by_sieving(const CollectiveCall& call, const Request& request) {
  if (call.direction == mpiio::Direction::write) return false;
  const mpiio::Access& own = request.access;
  return mpiio::worth_sieving({size_of(own), own.blocks(), mpiio::sieved_bytes(own)});
}

Status transfer_own_part(FileState& state, const CollectiveCall& call, const Request& request,
                         CallTrace& trace) {
  if (request.access.empty()) return {};
  const bool sieve = reads_by_sieving(call, request);
  BounceMemory bounce(bounced(request, sieve));
  const mpiio::OwnPart part{.own = &request.access,
                            .memory = static_cast<std::byte*>(call.memory),
                            .memory_pattern = request.memory,
                            .file = state.aggregator_file(),
                            .bounce = bounce.span(),
                            .record = CallTrace::record_phase,
                            .record_context = &trace};
  if (call.direction == mpiio::Direction::write) return write_pieces(part);
  return sieve ? read_by_sieving(part) : read_pieces(part);
}

}  // namespace haichi::mpi
