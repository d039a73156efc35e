#include "mpi/exchange_call.h"

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/exchange_buffers.h"
#include "mpi/executor.h"
#include "plan/split_messages.h"

namespace haichi::mpi {
namespace {

using collectives::Candidate;
using collectives::Exchange;

constexpr int kTag = 1;  // on a communicator that nobody else has
// Exit code of a job that ran out of memory, EX_OSERR of sysexits.h.
constexpr int kOutOfMemoryExit = 71;

/// Size in bytes of each rank's block of a side.
std::vector<int64_t> block_sizes(const ExchangeSide& side, int64_t element) {
  std::vector<int64_t> sizes;
  for (const int64_t count : side.counts) sizes.push_back(count * element);
  return sizes;
}

/// A side of a datatype that haichi cannot decode: packed by the MPI library, block after block.
class PackedSide {
 public:
  PackedSide(const ExchangeSide& side, int ranks) : side_(side), begins_{0} {
    MPI_Count size = 0, lower = 0, extent = 0;
    real().Type_size_x(side.type, &size);
    real().Type_get_extent_x(side.type, &lower, &extent);
    extent_ = extent;
    for (int r = 0; r < ranks; ++r) begins_.push_back(begins_.back() + side.count_of(r) * size);
    packed_.resize(size_t(begins_.back()));
  }
  void pack(MPI_Comm comm) {
    for_each_part([&](std::byte* data, int count, std::byte* packed, int size) {
      int position = 0;
      real().Pack(data, count, side_.type, packed, size, &position, comm);
    });
  }
  void unpack(MPI_Comm comm) {
    for_each_part([&](std::byte* data, int count, std::byte* packed, int size) {
      int position = 0;
      real().Unpack(packed, size, &position, data, count, side_.type, comm);
    });
  }
  ExchangeBuffers::Side side() {
    auto blocks = BlocksInMemory::make(packed_.data(), handles().byte, begins_.back());
    return {*std::move(blocks), {0, begins_}};
  }

 private:
  // The MPI library's sizes are ints.
  template <class Visit>
  void for_each_part(Visit&& visit) {
    for (int r = 0; r + 1 < int(begins_.size()); ++r) {
      const int64_t count = side_.count_of(r), size = begins_[size_t(r) + 1] - begins_[size_t(r)];
      if (size == 0) continue;
      const int64_t element = size / count, most = std::max<int64_t>(1, (1 << 30) / element);
      const int64_t first = side_.at.empty() ? r * side_.count : side_.at[size_t(r)];
      for (int64_t done = 0; done < count; done += most) {
        const int64_t now = std::min(most, count - done);
        visit(static_cast<std::byte*>(side_.buffer) + (first + done) * extent_, int(now),
              packed_.data() + begins_[size_t(r)] + done * element, int(now * element));
      }
    }
  }
  const ExchangeSide& side_;
  std::vector<int64_t> begins_;
  std::vector<std::byte> packed_;
  int64_t extent_ = 0;
};

/// A side as a schedule sees it; `packed` is set if it had to be packed for that.
ExchangeBuffers::Side memory_of(const ExchangeSide& side, int ranks,
                                std::unique_ptr<PackedSide>& packed) {
  int64_t most = side.count;
  for (const int64_t count : side.counts) most = std::max(most, count);
  if (auto blocks = BlocksInMemory::make(side.buffer, side.type, most)) {
    const int64_t extent = blocks->extent();
    Displacements at{side.count * extent};
    for (const int64_t first : side.at) at.of.push_back(first * extent);
    return {*std::move(blocks), std::move(at)};
  }
  packed = std::make_unique<PackedSide>(side, ranks);
  return packed->side();
}

int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  return real().Type_size_x(type, &size) == MPI_SUCCESS ? int64_t(size) : 0;
}

/// Carries out the exchange by a schedule of haichi's.
Status by_schedule(CommState& state, const ExchangeCall& call, const Candidate& candidate) {
  const int ranks = state.placement.ranks();
  Exchange exchange{&state.placement, state.rank};
  const std::vector<int64_t> out = block_sizes(call.send, size_of(call.send.type)),
                             in = block_sizes(call.receive, size_of(call.receive.type));
  if (call.regular())
    exchange.block = call.receive.count * size_of(call.receive.type);
  else
    exchange.out = out, exchange.in = in;
  std::vector<std::byte> temporary(size_t(candidate.temporary(exchange)));
  std::unique_ptr<PackedSide> packed_send, packed_receive;
  ExchangeBuffers buffers(memory_of(call.send, ranks, packed_send),
                          memory_of(call.receive, ranks, packed_receive), temporary);
  if (packed_send) packed_send->pack(state.own);
  const auto whole = candidate.schedule(exchange);
  plan::SplitMessages schedule(*whole);
  Executor executor(state.own, kTag, nullptr);
  Status done = executor.run(schedule, buffers);
  if (done && packed_receive) packed_receive->unpack(state.own);
  return done;
}

/// The other ranks wait for this one's messages, so the job ends, with a word, instead of hanging.
Status by_schedule_or_abort(CommState& state, const ExchangeCall& call,
                            const Candidate& candidate) {
  try {
    return by_schedule(state, call, candidate);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "out of memory in the middle of {}; the job ends", call.collective);
    real().Abort(handles().comm_world, kOutOfMemoryExit);
    return {};
  }
}

/// The mean over the ranks of what each has to say. What cannot be agreed leaves the ranks with
/// different choices, so the caller must not go on with them.
bool agree(CommState& state, collectives::Selection& selection) {
  const std::span<const double> ballot = selection.ballot();
  std::vector<int64_t> mine, sum(ballot.size());
  for (const double seconds : ballot) mine.push_back(int64_t(seconds * 1e9));
  if (real().Allreduce(mine.data(), sum.data(), int(mine.size()), handles().int64, handles().op_sum,
                       state.own) != MPI_SUCCESS)
    return false;
  std::vector<double> mean;
  for (const int64_t ns : sum) mean.push_back(double(ns) * 1e-9 / state.placement.ranks());
  selection.agree(mean);
  return true;
}

CollectiveKey key_of(const ExchangeCall& call) {
  if (!call.regular()) return {call.collective, -1};
  const int64_t block = call.receive.count * size_of(call.receive.type);
  return {call.collective, int(std::bit_width(uint64_t(block))) - 1};
}

}  // namespace

int run_exchange(MPI_Comm comm, CommState& state, const ExchangeCall& call,
                 const std::function<int()>& library) {
  const CollectiveKey key = key_of(call);
  if (call.regular() && key.size_bin < 0) return library();  // no bytes at all
  Tuned& tuned = state.tuned(key, call.regular());
  const Candidate& candidate = tuned.candidates[size_t(tuned.selection.next())];
  const int64_t begin_ns = now_ns();
  Status done;
  int result = MPI_SUCCESS;
  if (candidate.algorithm == nullptr)
    result = library();
  else
    done = by_schedule_or_abort(state, call, candidate);
  const double seconds = double(now_ns() - begin_ns) * 1e-9;
  tuned.seconds += seconds;
  if (!done) state.runtime.note(fmt::format("{}: {}", call.collective, done.error().text));
  if (tuned.selection.took(seconds) && !agree(state, tuned.selection))
    done = fail(EIO, "the ranks cannot agree any more");
  if (!done) {
    result = MPI_ERR_OTHER;
    real().Comm_call_errhandler(comm, result);
  }
  return result;
}

}  // namespace haichi::mpi
