#include "mpi/files/file_memory.h"

#include <algorithm>
#include <new>
#include <utility>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

// Where memory is short, collective buffers shrink down to this; below, calls are passed through.
constexpr int64_t kSmallestWindow = 64 << 10;

/// Where something of any type may begin.
int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

FileMemory::~FileMemory() { NodeMemory::keep(std::move(common_)); }

int64_t FileMemory::affordable_window(bool aggregates, int64_t bytes, int64_t asked) {
  for (int64_t window = asked;; window /= 2) {
    if (aggregates && own_capacity_ < window) {
      own_.reset();
      own_.reset(new (std::nothrow) std::byte[size_t(window)]);
      own_capacity_ = own_ ? window : 0;
    }
    // Messages that are packed or wait to be unpacked take no more than this; asked for and given
    // back untouched, which costs two system calls.
    const int64_t packed = std::min(bytes, window) + (aggregates ? window : 0);
    const std::unique_ptr<std::byte[]> room(new (std::nothrow) std::byte[size_t(packed)]);
    if (room && (!aggregates || own_)) return window;
    if (window < 2 * kSmallestWindow) return 0;
    own_.reset();
    own_capacity_ = 0;
  }
}

FileMemory::Windows FileMemory::windows(const mpiio::TwoPhasePlan& plan,
                                        const mpiio::NodeStreams* streams) {
  Windows result;
  const std::vector<int>& all = plan.aggregators.ranks;
  result.of_aggregator.resize(all.size());
  std::vector<int> here;  // indices of the aggregators on this rank's node
  for (size_t a = 0; a < all.size(); ++a) {
    if (placement_.same_node(all[a], rank_)) here.push_back(int(a));
    if (all[a] == rank_) result.of_aggregator[a] = own_.get();
  }
  const int64_t windows = aligned(int64_t(here.size()) * plan.cb_slots * plan.cb_slot_bytes);
  const int64_t streamed = streams ? streams->memory_of(placement_.node_of(rank_)) : 0;
  if (plan.shares) result.refusal = share_with_node(size_t(windows + streamed));
  result.streaming = agree_on_streams(plan, streamed == 0 || common_);
  if (!plan.shares || !common_ || (here.empty() && !result.streaming)) return result;
  result.meeting = common_.get();
  result.streams = common_->data() + windows;
  for (size_t i = 0; i < here.size(); ++i)
    result.of_aggregator[size_t(here[i])] =
        common_->data() + int64_t(i) * plan.cb_slots * plan.cb_slot_bytes;
  return result;
}

// The answer holds as long as the same is asked of every node's memory: what a node has got it
// keeps.
bool FileMemory::agree_on_streams(const mpiio::TwoPhasePlan& plan, bool mine) {
  Asked asked{plan.cb_slot_bytes, plan.stream_part, plan.shares, plan.aggregators.ranks};
  if (asked_ == asked) return streams_agreed_;
  asked_ = std::move(asked);
  streams_agreed_ = false;
  if (plan.stream_part == 0) return false;
  const int64_t have = mine;
  int64_t all = 0;
  streams_agreed_ =
      real().Allreduce(&have, &all, 1, handles().int64, handles().op_min, comm_) == MPI_SUCCESS &&
      all == 1;
  return streams_agreed_;
}

std::string FileMemory::share_with_node(size_t bytes) {
  const bool alone = placement_.ranks_on(placement_.node_of(rank_)).size() < 2;
  if (bytes == 0 || alone || common_refused_ || (common_ && common_->size() >= bytes)) return "";
  common_.reset();
  auto made = NodeMemory::make(comm_, placement_, rank_, bytes);
  if (!made) {
    common_refused_ = true;
    return made.error().text;
  }
  common_ = std::move(*made);
  return "";
}

}  // namespace haichi::mpi
