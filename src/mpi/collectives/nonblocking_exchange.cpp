#include "mpi/collectives/nonblocking_exchange.h"

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/collectives/exchange_messages.h"
#include "mpi/compat/handles.h"
#include "mpi/requests/operations.h"
#include "mpi/requests/own_request.h"

namespace haichi::mpi {
namespace {

/// The messages of an exchange under way.
class NonblockingExchange : public Operation {
 public:
  NonblockingExchange(std::shared_ptr<CommPeers> peers, CommPeers::Calls& calls)
      : peers_(std::move(peers)), calls_(calls) {}

  /// Issues them. After an error some are under way, and their requests are lost.
  int start(const ExchangeCall& call) {
    const MessageFunctions functions{real().Isend, real().Isend_c, real().Irecv, real().Irecv_c};
    return issue_messages(*peers_, peers_->tags, call, *calls_.choice.candidate, functions,
                          requests_.all);
  }

  Progress advance() override { return requests_.advance(); }
  void looked_after(int64_t ns) override { calls_.ns.fetch_add(ns, std::memory_order_relaxed); }
  int error() const { return requests_.error(); }

 private:
  const std::shared_ptr<CommPeers> peers_;
  CommPeers::Calls& calls_;
  MessageRequests requests_;
};

int start_own(const std::shared_ptr<CommPeers>& peers, CommPeers::Calls& calls,
              const ExchangeCall& call, MPI_Request* request) {
  const int64_t begin_ns = now_ns();
  const auto operation = std::make_shared<NonblockingExchange>(peers, calls);
  RequestAnswer* answer = nullptr;
  if (const int code = start_request(answer, request); code != MPI_SUCCESS) return code;
  const MPI_Request own = *request;
  if (const int code = operation->start(call); code != MPI_SUCCESS) {
    real().Grequest_complete(own);
    real().Request_free(request);
    return code;
  }
  calls.ns.fetch_add(now_ns() - begin_ns, std::memory_order_relaxed);
  open_operation(operation, own, [operation, answer, own] {
    answer->error = operation->error();
    real().Grequest_complete(own);
  });
  return MPI_SUCCESS;
}

}  // namespace

int start_exchange(MPI_Comm comm, const std::shared_ptr<CommPeers>& peers, const ExchangeCall& call,
                   MPI_Request* request, const std::function<int()>& library) {
  const int64_t block = call.block_bytes();
  if (block == 0) return library();
  CommPeers::Calls& calls = peers->calls(call.key(block));
  peers->count(calls);
  if (!calls.choice.candidate) return library();
  const int code = start_own(peers, calls, call, request);
  if (code != MPI_SUCCESS) {
    *request = handles().request_null;
    real().Comm_call_errhandler(comm, code);
  }
  return code;
}

}  // namespace haichi::mpi
