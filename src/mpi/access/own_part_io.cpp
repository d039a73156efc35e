#include "mpi/access/own_part_io.h"

#include <sys/stat.h>

#include <algorithm>

#include "mpi/types/bounce_memory.h"
#include "mpiio/storage/own_part.h"
#include "mpiio/storage/sieve.h"
#include "mpiio/ways/read_cost.h"

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

int clip_at_end(FileState& state, mpiio::Access& access) {
  const int64_t end_of_writes = state.backlog.end_of_writes();
  const mpiio::AggregatorFile file = state.aggregator_file();
  struct stat facts;
  if (const int done = file.os->fstat(file.fd, &facts); done < 0) return -done;
  access.clip(std::max<int64_t>(facts.st_size, end_of_writes));
  return 0;
}

Status transfer_own_part(FileState& state, const CollectiveCall& call, const Request& request,
                         int64_t slot, CallTrace& trace) {
  if (request.access.empty()) return {};
  const bool writing = call.direction == mpiio::Direction::write;
  const bool sieve =
      writing ? slot >= 0 && mpiio::worth_filling(request.access) : reads_by_sieving(call, request);
  mpiio::AggregatorFile file = state.aggregator_file();
  file.slot = slot;
  // Where one rank may fill the holes around another's pieces, both take locks.
  file.lock_writes = file.lock_writes || slot >= 0;
  BounceMemory bounce(bounced(request, sieve));
  if (writing) state.note_descriptor_written();
  const mpiio::OwnPart part{.own = &request.access,
                            .memory = static_cast<std::byte*>(call.memory),
                            .memory_pattern = request.memory,
                            .file = file,
                            .bounce = bounce.span(),
                            .record = CallTrace::record_phase,
                            .record_context = &trace};
  if (writing) return sieve ? write_by_sieving(part) : write_pieces(part);
  return sieve ? read_by_sieving(part) : read_pieces(part);
}

}  // namespace haichi::mpi
