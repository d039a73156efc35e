#include "mpi/ordered_io.h"

#include <algorithm>
#include <vector>

#include "generated/real.h"
#include "mpi/collective_io.h"
#include "mpi/compat/handles.h"
#include "mpi/datatype.h"

namespace haichi::mpi {
namespace {

/// The access in etypes of the view: where the shared pointer is, what lies before this rank's part
/// and what all parts are together.
struct Share {
  MPI_Offset position = -1;  ///< negative: not to be had, the call must be passed through
  int64_t before = 0;
  int64_t total = 0;
};

/// Etypes of this rank's part. Where they can't be told, run_collective refuses the call.
int64_t wanted_etypes(FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  const auto shape = decode_type(call.type);
  int64_t bytes;
  if (!shape || state.etype_size == 0 || call.count < 0 ||
      __builtin_mul_overflow(call.count, shape->size(), &bytes))
    return 0;
  return bytes / state.etype_size;
}

/// The library is asked only where it has a shared pointer: its answer may be a call of the file's
/// error handler.
MPI_Offset shared_position(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  MPI_Offset position = -1;
  if (!state.refusal(call.direction).empty() ||
      real().File_get_position_shared(file, &position) != MPI_SUCCESS)
    return -1;
  return position;
}

/// The pointer is read only after every rank has come, since one may come from a call that moves
/// it.
Share agree_on_share(MPI_File file, FileState& state, const CollectiveCall& call) {
  const int64_t mine = wanted_etypes(state, call);
  std::vector<int64_t> all(size_t(state.placement.ranks()));
  Share share;
  if (real().Allgather(&mine, 1, handles().int64, all.data(), 1, handles().int64, state.comm) !=
      MPI_SUCCESS)
    return share;
  bool fits = true;
  for (int r = 0; r < int(all.size()); ++r) {
    if (r == state.rank) share.before = share.total;
    fits = fits && !__builtin_add_overflow(share.total, all[size_t(r)], &share.total);
  }
  int64_t position = state.rank == 0 && fits ? shared_position(file, state, call) : -1;
  if (real().Bcast(&position, 1, handles().int64, 0, state.comm) != MPI_SUCCESS) position = -1;
  share.position = MPI_Offset(position);
  return share;
}

}  // namespace

CollectiveOutcome run_ordered(MPI_File file, FileState& state, const CollectiveCall& call) {
  const Share share = agree_on_share(file, state, call);
  CollectiveCall at = call;
  at.offset = share.position < 0 ? -1 : share.position + share.before;
  const CollectiveOutcome outcome = run_collective(file, state, at);
  if (outcome.taken)
    real().File_seek_shared(file, share.position + MPI_Offset(share.total), MPI_SEEK_SET);
  return outcome;
}

}  // namespace haichi::mpi
