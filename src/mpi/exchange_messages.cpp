#include "mpi/exchange_messages.h"

#include <limits.h>

#include "plan/large_receives.h"

namespace haichi::mpi {
namespace {

/// Whose block a slice is, as collectives::Exchange numbers buffers.
int block_of(const plan::Slice& slice) { return (slice.buffer - 1) / 2; }

/// One side of the exchange, with what does not change from message to message.
class MessageMaker {
 public:
  MessageMaker(const CommPeers& peers, const std::vector<int>& tags, const ExchangeSide& side,
               bool sends)
      : peers_(peers), tags_(tags), side_(side), sends_(sends) {
    if (side.at_bytes) return;  // of the types: there may be none
    MPI_Count lower = 0, extent = 0;
    real().Type_get_extent_x(side.type_of(0), &lower, &extent);
    extent_ = extent;
  }
  /// `block` is the peer, or its place among the neighbours.
  ExchangeMessage with(int peer, int block) const {
    return {sends_,
            static_cast<std::byte*>(side_.buffer) + side_.begin_of(block, extent_),
            side_.count_of(block),
            side_.type_of(block),
            peers_.world_rank[size_t(peer)],
            tags_[size_t(sends_ ? peer : peers_.rank)]};
  }

 private:
  const CommPeers& peers_;
  const std::vector<int>& tags_;
  const ExchangeSide& side_;
  const bool sends_;
  int64_t extent_ = 0;
};

}  // namespace

int give_to(const MessageFunctions& functions, const ExchangeMessage& m, MPI_Request* request) {
  const MPI_Comm comm = message_comm();
  // Only large-count calls have larger counts, and a library with these has those.
  if (m.count > INT_MAX)
    return m.send ? functions.send_c(m.data, m.count, m.type, m.rank, m.tag, comm, request)
                  : functions.receive_c(m.data, m.count, m.type, m.rank, m.tag, comm, request);
  const int count = int(m.count);
  return m.send ? functions.send(m.data, count, m.type, m.rank, m.tag, comm, request)
                : functions.receive(m.data, count, m.type, m.rank, m.tag, comm, request);
}

std::vector<ExchangeMessage> messages_of(const CommPeers& peers, const std::vector<int>& tags,
                                         const ExchangeCall& call,
                                         const collectives::Candidate& candidate) {
  const ExchangeView view(call, peers.placement, peers.rank,
                          peers.neighbourhood ? &peers.neighbourhood->neighbours : nullptr);
  const MessageMaker send(peers, tags, call.send, true), receive(peers, tags, call.receive, false);
  std::vector<ExchangeMessage> messages, receives, small;
  const auto schedule = candidate.schedule(view.exchange);
  plan::Step step;
  while (schedule->next(step)) {
    const int from = block_of(step.from), to = block_of(step.to);
    if (step.kind == plan::Step::Kind::receive) receives.push_back(receive.with(step.peer, to));
    if (step.kind == plan::Step::Kind::send)
      (step.from.size >= plan::kLargeBytes ? messages : small)
          .push_back(send.with(step.peer, from));
    if (step.kind == plan::Step::Kind::copy) {
      receives.push_back(receive.with(peers.rank, to));
      small.push_back(send.with(peers.rank, from));
    }
  }
  messages.insert(messages.end(), receives.begin(), receives.end());
  messages.insert(messages.end(), small.begin(), small.end());
  return messages;
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
