#include "mpi/access/told_parts.h"

#include <errno.h>

#include <algorithm>
#include <numeric>

#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpiio/twophase/occupied.h"

namespace haichi::mpi {
namespace {

// Of all ranks together, so that nobody keeps much: 16 bytes each.
constexpr int64_t kMostTold = 64 << 10;

}  // namespace

Result<ToldParts> tell_parts(FileState& state, const mpiio::TwoPhaseOptions& options,
                             mpiio::Direction direction, const mpiio::Demand& together,
                             const Agreement& agreed, const mpiio::Access& own) {
  const size_t ranks = agreed.all.size();
  ToldParts told(ranks);
  const auto large = std::count_if(agreed.all.begin(), agreed.all.end(),
                                   [](const Announcement& each) { return each.is_large(); });
  if (large == 0 || !mpiio::worth_telling(state.placement, options, together)) return told;
  std::vector<plan::Extent> mine;
  if (agreed.all[size_t(state.rank)].is_large())
    mine = mpiio::parts_to_tell(own,
                                mpiio::hole_of(state.placement, options, direction, together.hull),
                                kMostTold / int64_t(large));
  std::vector<int> counts(ranks), begins(ranks);
  const int count = int(2 * mine.size());
  if (!state.group->allgather(&count, sizeof count, counts.data(), state.waiting()))
    return fail(EIO, "the ranks of {} cannot agree", state.path);
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<int64_t> all(size_t(begins.back() + counts.back())), numbers;
  for (const plan::Extent& part : mine) numbers.insert(numbers.end(), {part.begin, part.end});
  if (real().Allgatherv(numbers.data(), count, handles().int64, all.data(), counts.data(),
                        begins.data(), handles().int64, state.comm) != MPI_SUCCESS)
    return fail(EIO, "the ranks of {} cannot tell where their bytes are", state.path);
  for (size_t r = 0; r < ranks; ++r)
    for (int i = 0; i < counts[r]; i += 2) {
      const int64_t* const part = &all[size_t(begins[r] + i)];
      told[r].push_back({part[0], part[1]});
    }
  return told;
}

}  // namespace haichi::mpi
