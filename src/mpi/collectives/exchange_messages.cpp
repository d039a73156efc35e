#include "mpi/collectives/exchange_messages.h"

#include <limits.h>

#include "mpi/requests/executor.h"
#include "plan/copies_as_messages.h"

namespace haichi::mpi {
namespace {

using plan::Step;

/// Whose block a slice is, as collectives::Exchange numbers buffers.
int block_of(const plan::Slice& slice) { return (slice.buffer - 1) / 2; }

/// The arguments of MPI_Isend or MPI_Irecv that say what is sent or received.
struct Block {
  void* data;
  int64_t count;
  MPI_Datatype type;
};

/// One side of the exchange, with what does not change from message to message.
class BlocksOfSide {
 public:
  explicit BlocksOfSide(const ExchangeSide& side) : side_(side) {
    if (side.at_bytes) return;  // of the types: there may be none
    MPI_Count lower = 0, extent = 0;
    real().Type_get_extent_x(side.type_of(0), &lower, &extent);
    extent_ = extent;
  }
  /// `block` is the peer, or its place among the neighbours.
  Block operator[](int block) const {
    return {static_cast<std::byte*>(side_.buffer) + side_.begin_of(block, extent_),
            side_.count_of(block), side_.type_of(block)};
  }

 private:
  const ExchangeSide& side_;
  int64_t extent_ = 0;
};

/// Blocks as the program has them, packed by nobody.
class ProgramBlocks : public BlockMessages {
 public:
  ProgramBlocks(const CommPeers& peers, const std::vector<int>& tags, const ExchangeCall& call,
                const MessageFunctions& functions)
      : peers_(peers),
        tags_(tags),
        functions_(functions),
        send_(call.send),
        receive_(call.receive) {}

  int issue(const Step& step, MPI_Request* request) override {
    const MessageFunctions& f = functions_;
    const MPI_Comm comm = message_comm();
    const bool sends = step.kind == Step::Kind::send;
    const auto [data, count, type] =
        sends ? send_[block_of(step.from)] : receive_[block_of(step.to)];
    const int rank = peers_.world_rank[size_t(step.peer)];
    const int tag = tags_[size_t(sends ? step.peer : peers_.rank)];
    // Only large-count calls have larger counts, and a library with these has those.
    if (count > INT_MAX)
      return sends ? f.send_c(data, count, type, rank, tag, comm, request)
                   : f.receive_c(data, count, type, rank, tag, comm, request);
    return sends ? f.send(data, int(count), type, rank, tag, comm, request)
                 : f.receive(data, int(count), type, rank, tag, comm, request);
  }

 private:
  const CommPeers& peers_;
  const std::vector<int>& tags_;
  const MessageFunctions& functions_;
  const BlocksOfSide send_, receive_;
};

}  // namespace

int issue_messages(const CommPeers& peers, const std::vector<int>& tags, const ExchangeCall& call,
                   const collectives::Candidate& candidate, const MessageFunctions& functions,
                   std::vector<MPI_Request>& requests) {
  const ExchangeView view(call, peers.placement, peers.rank,
                          peers.neighbourhood ? &peers.neighbourhood->neighbours : nullptr);
  const auto schedule = candidate.schedule(view.exchange);
  plan::CopiesAsMessages messages(*schedule, peers.rank);
  ProgramBlocks blocks(peers, tags, call, functions);
  return Executor(blocks).issue(messages, requests);
}

Progress MessageRequests::advance() {
  const size_t before = complete_;
  for (; complete_ < all.size(); ++complete_) {
    int done = 0;
    const int code = real().Test(&all[complete_], &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
      error_ = code;
    else if (!done)
      return complete_ > before ? Progress::some : Progress::none;
  }
  return Progress::complete;
}

}  // namespace haichi::mpi
