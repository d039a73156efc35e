#include "mpi/access/ordered_io.h"

#include <algorithm>
#include <vector>

#include "generated/real.h"
#include "mpi/access/call_trace.h"
#include "mpi/access/collective_io.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/library_file_io.h"
#include "mpi/types/datatype.h"
#include "mpiio/ways/way.h"

namespace haichi::mpi {
namespace {

/// What a rank tells the others of its part.
struct Part {
  int64_t etypes;
  int64_t bytes;  ///< INT64_MAX: the access is not to be the library's
};

/// The access in etypes of the view: where the shared pointer is, what lies before this rank's part
/// and what all parts are together.
struct Share {
  MPI_Offset position = -1;  ///< negative: not to be had, the call must be passed through
  int64_t before = 0;
  int64_t total = 0;
  int64_t most = INT64_MAX;  ///< bytes of a rank
};

/// Where it can't be told, run_collective refuses the call.
Part own_part(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  const auto shape = decode_type(call.type);
  const int64_t etype_size = state.view.of(file).etype_size;
  int64_t bytes;
  if (!shape || etype_size == 0 || call.count < 0 ||
      __builtin_mul_overflow(call.count, shape->size(), &bytes))
    return {0, INT64_MAX};
  return {bytes / etype_size, state.options.may_be_library() ? bytes : INT64_MAX};
}

/// The library is asked only where it has a shared pointer: its answer may be a call of the file's
/// error handler.
MPI_Offset shared_position(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  MPI_Offset position = -1;
  if (!state.common_refusal(call.direction).empty() ||
      !state.options.refusal(call.direction).empty() ||
      real().File_get_position_shared(file, &position) != MPI_SUCCESS)
    return -1;
  return position;
}

/// What an ordered access writes is in one piece a rank, unless its view has holes.
bool left_as_little(const FileState& state, const Share& share) {
  return mpiio::left_as_little(library_file_io(), state.placement, share.most,
                               state.placement.ranks());
}

/// The pointer is read only after every rank has come, since one may come from a call that moves
/// it.
Share agree_on_share(MPI_File file, FileState& state, const CollectiveCall& call) {
  const Part mine = own_part(file, state, call);
  std::vector<Part> all(size_t(state.placement.ranks()));
  Share share;
  if (!state.group->allgather(&mine, sizeof mine, all.data(), state.waiting())) return share;
  bool fits = true;
  share.most = 0;
  for (int r = 0; r < int(all.size()); ++r) {
    const Part& part = all[size_t(r)];
    if (r == state.rank) share.before = share.total;
    fits = fits && !__builtin_add_overflow(share.total, part.etypes, &share.total);
    share.most = std::max(share.most, part.bytes);
  }
  if (left_as_little(state, share)) return share;
  int64_t position = state.rank == 0 && fits ? shared_position(file, state, call) : -1;
  if (state.group->broadcast(position, state.waiting())) share.position = MPI_Offset(position);
  return share;
}

void record_as_little(FileState& state, const CollectiveCall& call, int64_t most) {
  const mpiio::WayChoice choice{mpiio::Way::library, mpiio::WayReason::little};
  record_left(state, call.name,
              state.rank == 0 ? text_of(choice, state.placement, {.most = most}) : "");
}

}  // namespace

CollectiveOutcome run_ordered(MPI_File file, FileState& state, const CollectiveCall& call) {
  if (state.observes()) return {};
  come_to_access(state, call.direction);
  mpiio::Doze& doze = state.doze_of(AccessForm::ordered, call.direction);
  if (state.handed_back || doze.goes_on()) return {};
  const Share share = [&] {
    const Turn turn = state.take_turn();
    return agree_on_share(file, state, call);
  }();
  if (left_as_little(state, share)) {
    doze.longer();
    record_as_little(state, call, share.most);
    return {};
  }
  CollectiveCall at = call;
  at.form = AccessForm::ordered;
  at.offset = share.position < 0 ? -1 : share.position + share.before;
  const CollectiveOutcome outcome = run_collective(file, state, at);
  outcome.taken ? doze.end() : doze.longer();
  if (outcome.taken)
    real().File_seek_shared(file, share.position + MPI_Offset(share.total), MPI_SEEK_SET);
  return outcome;
}

}  // namespace haichi::mpi
