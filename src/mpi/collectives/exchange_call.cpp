#include "mpi/collectives/exchange_call.h"

#include <errno.h>

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/collectives/exchange_buffers.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/requests/executor.h"
#include "plan/split_messages.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

using collectives::Candidate;

constexpr int kTag = 1;  // on a communicator that nobody else has

int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  return real().Type_size_x(type, &size) == MPI_SUCCESS ? int64_t(size) : 0;
}

/// A side with a datatype that haichi cannot decode: packed by the MPI library, block after block.
class PackedSide {
 public:
  PackedSide(const ExchangeSide& side, int given) : side_(side), begins_{0} {
    const int blocks = side.one_block ? std::min(given, 1) : given;
    for (int r = 0; r < blocks; ++r)
      begins_.push_back(begins_.back() + count_of(r) * size_of(side.type_of(r)));
    packed_.resize(size_t(begins_.back()));
  }
  void pack(MPI_Comm comm) {
    for (int r = 0; r < blocks(); ++r) pack_block(r, comm);
  }
  void pack_block(int rank, MPI_Comm comm) {
    for_each_part(rank, [&](std::byte* data, int count, std::byte* packed, int size) {
      int position = 0;
      real().Pack(data, count, side_.type_of(rank), packed, size, &position, comm);
    });
  }
  void unpack(MPI_Comm comm) {
    for (int r = 0; r < blocks(); ++r)
      for_each_part(r, [&](std::byte* data, int count, std::byte* packed, int size) {
        int position = 0;
        real().Unpack(packed, size, &position, data, count, side_.type_of(r), comm);
      });
  }
  ExchangeBuffers::Side side() {
    auto memory = BlocksInMemory::make(packed_.data(), handles().byte, begins_.back());
    Displacements at;
    if (!side_.one_block) at.of = begins_;
    return {{*std::move(memory)}, std::move(at)};
  }

 private:
  int blocks() const { return int(begins_.size()) - 1; }
  int64_t count_of(int r) const { return side_.one_block ? side_.count : side_.count_of(r); }
  // The MPI library's sizes are ints.
  template <class Visit>
  void for_each_part(int r, Visit&& visit) {
    const int64_t count = count_of(r), size = begins_[size_t(r) + 1] - begins_[size_t(r)];
    if (size == 0) return;
    MPI_Count lower = 0, extent = 0;
    real().Type_get_extent_x(side_.type_of(r), &lower, &extent);
    const int64_t element = size / count, most = std::max<int64_t>(1, (1 << 30) / element);
    std::byte* const first = static_cast<std::byte*>(side_.buffer) + side_.begin_of(r, extent);
    for (int64_t done = 0; done < count; done += most) {
      const int64_t now = std::min(most, count - done);
      visit(first + done * int64_t(extent), int(now),
            packed_.data() + begins_[size_t(r)] + done * element, int(now * element));
    }
  }
  const ExchangeSide& side_;
  std::vector<int64_t> begins_;
  std::vector<std::byte> packed_;
};

/// A side where the program has it, or nothing if a datatype cannot be decoded.
std::optional<ExchangeBuffers::Side> decoded(const ExchangeSide& side) {
  ExchangeBuffers::Side result;
  int64_t most = side.count;
  for (const int64_t count : side.counts) most = std::max(most, count);
  for (size_t r = 0; r < side.types.size(); ++r) {
    const int64_t count = side.types.size() == 1 ? most : side.count_of(int(r));
    auto blocks = BlocksInMemory::make(side.buffer, side.types[r], count);
    if (!blocks) return std::nullopt;
    result.blocks.push_back(*std::move(blocks));
  }
  if (side.at.empty() && !result.blocks.empty())
    result.at.each = side.begin_of(1, result.blocks[0].extent());
  for (int r = 0; r < int(side.at.size()); ++r)
    result.at.of.push_back(side.begin_of(r, result.of(r).extent()));
  return result;
}

/// A side of so many blocks as a schedule sees it; `packed` is set if it has to be packed for that.
ExchangeBuffers::Side memory_of(const ExchangeSide& side, int blocks,
                                std::optional<PackedSide>& packed) {
  if (auto memory = decoded(side)) return *std::move(memory);
  return packed.emplace(side, blocks).side();
}

/// Carries out the exchange by a schedule of haichi's.
Status by_schedule(CommState& state, const ExchangeCall& call, const Candidate& candidate) {
  const ExchangeView view(call, state.placement, state.rank,
                          state.neighbourhood ? &state.neighbourhood->neighbours : nullptr);
  std::vector<std::byte> temporary(size_t(candidate.temporary(view.exchange)));
  std::optional<PackedSide> packed_send, packed_receive;
  ExchangeBuffers::Side send;
  if (!call.in_place) send = memory_of(call.send, view.exchange.blocks_sent(), packed_send);
  ExchangeBuffers buffers(std::move(send),
                          memory_of(call.receive, view.exchange.blocks_received(), packed_receive),
                          temporary);
  if (packed_send) packed_send->pack(state.own);
  if (packed_receive && call.in_place) packed_receive->pack_block(state.rank, state.own);
  const auto whole = candidate.schedule(view.exchange);
  plan::SplitMessages schedule(*whole);
  Executor executor(state.own, kTag, nullptr, nullptr, kWaitingOfExchanges);
  Status done = executor.run(schedule, buffers);
  if (done && packed_receive) packed_receive->unpack(state.own);
  return done;
}

/// The mean over the ranks of what each has to say. What cannot be agreed leaves the ranks with
/// different choices, so the caller must not go on with them.
bool agree(CommState& state, collectives::Selection& selection) {
  const int64_t begin_ns = now_ns();
  const std::span<const double> ballot = selection.ballot();
  std::vector<int64_t> mine, sum(ballot.size());
  for (const double seconds : ballot) mine.push_back(int64_t(seconds * 1e9));
  if (real().Allreduce(mine.data(), sum.data(), int(mine.size()), handles().int64, handles().op_sum,
                       state.own) != MPI_SUCCESS)
    return false;
  std::vector<double> mean;
  for (const int64_t ns : sum) mean.push_back(double(ns) * 1e-9 / state.placement.ranks());
  selection.agree(mean);
  selection.agreement_took(double(now_ns() - begin_ns) * 1e-9);
  return true;
}

}  // namespace

std::vector<int64_t> ExchangeSide::block_bytes() const {
  std::vector<int64_t> sizes;
  int64_t element = types.size() == 1 ? size_of(types[0]) : 0;
  for (int r = 0; r < int(counts.size()); ++r) {
    if (types.size() > 1) element = size_of(type_of(r));
    sizes.push_back(counts[size_t(r)] * element);
  }
  return sizes;
}

int64_t ExchangeCall::block_bytes() const {
  if (regular()) return receive.count * size_of(receive.type_of(0));
  if (kind != collectives::Kind::all_gather) return -1;
  const std::vector<int64_t> sizes = receive.block_bytes();
  const int64_t sum = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  return sum == 0 ? 0 : std::max<int64_t>(1, sum / int64_t(sizes.size()));
}

CollectiveKey ExchangeCall::key(int64_t block) const {
  return {collective, block < 0 ? -1 : int(std::bit_width(uint64_t(block))) - 1};
}

ExchangeView::ExchangeView(const ExchangeCall& call, const placement::Placement& placement,
                           int rank, const collectives::Neighbours* neighbours)
    : out_(call.send.block_bytes()),
      in_(call.receive.block_bytes()),
      exchange{&placement,    rank,      call.regular() ? call.block_bytes() : 0,
               out_,          in_,       call.kind,
               call.in_place, neighbours} {}

int run_exchange(MPI_Comm comm, CommState& state, const ExchangeCall& call,
                 const std::function<int()>& library) {
  const int64_t block = call.block_bytes();
  if (block == 0) return library();
  const CollectiveKey key = call.key(block);
  Tuned& tuned = state.tuned(key, call.kind, call.regular());
  const Candidate& candidate = tuned.candidates[size_t(tuned.selection.next())];
  const int64_t begin_ns = now_ns();
  Status done;
  int result = MPI_SUCCESS;
  if (candidate.algorithm == nullptr)
    result = library();
  else
    done =
        unless_out_of_memory(call.collective, [&] { return by_schedule(state, call, candidate); });
  const int64_t end_ns = now_ns();
  const double seconds = double(end_ns - begin_ns) * 1e-9;
  tuned.seconds += seconds;
  if (const Runtime& runtime = state.runtime; runtime.reports)
    report::keep_exchange({.collective = key.collective,
                           .begin_ns = begin_ns - runtime.start_ns,
                           .end_ns = end_ns - runtime.start_ns,
                           .block_bytes = block});
  if (!done) state.runtime.note(fmt::format("{}: {}", call.collective, done.error().text));
  if (tuned.selection.took(seconds) && !agree(state, tuned.selection))
    done = fail(EIO, "the ranks cannot agree any more");
  state.log(key, tuned);
  if (!done) {
    result = done.error().code == EMSGSIZE ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
    real().Comm_call_errhandler(comm, result);
  }
  return result;
}

}  // namespace haichi::mpi
