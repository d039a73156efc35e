#include "mpi/collectives/persistent_exchange.h"

#include <atomic>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/collectives/exchange_messages.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/requests/operations.h"

namespace haichi::mpi {
namespace {

/// Between MPI_Alltoall_init and MPI_Request_free, and until it is complete after that.
class PersistentExchange : public Operation {
 public:
  PersistentExchange(std::shared_ptr<CommPeers> peers, CommPeers::Calls& calls, MessageTag own)
      : peers_(std::move(peers)), calls_(calls), own_tag_(std::move(own)) {}

  ~PersistentExchange() override {
    for (MPI_Request& each : requests_.all) real().Request_free(&each);
  }

  /// `tags`: under which each rank receives.
  int make(const ExchangeCall& call, const std::vector<int>& tags, MPI_Request* request) {
    const MessageFunctions functions{real().Send_init, real().Send_init_c, real().Recv_init,
                                     real().Recv_init_c};
    if (const int code =
            issue_messages(*peers_, tags, call, *calls_.choice.candidate, functions, requests_.all);
        code != MPI_SUCCESS)
      return code;
    return real().Recv_init(nullptr, 0, handles().byte, own_rank(), end_tag_.value(),
                            message_comm(), request);
  }
  bool has_tags() const {
    return own_tag_.value() != MessageTag::kNone && end_tag_.value() != MessageTag::kNone;
  }

  int start(MPI_Request* request) {
    const int64_t begin_ns = now_ns();
    if (const int code = real().Start(request); code != MPI_SUCCESS) return code;
    requests_.restart();
    if (!requests_.all.empty())
      if (const int code = real().Startall(int(requests_.all.size()), requests_.all.data());
          code != MPI_SUCCESS)
        return code;
    peers_->count(calls_);
    calls_.ns.fetch_add(now_ns() - begin_ns, std::memory_order_relaxed);
    return MPI_SUCCESS;
  }
  /// Completes the program's request. It ends with an error, of a message that is too long, if one
  /// of the others did.
  void end() {
    const int bytes = requests_.error() == MPI_SUCCESS ? 0 : 1;
    const char byte = 0;
    if (real().Send(&byte, bytes, handles().byte, own_rank(), end_tag_.value(), message_comm()) ==
        MPI_SUCCESS)
      return;
    // Whoever waits for the request would wait for ever.
    log(LogLevel::error,
        "the MPI library refused the message that ends a persistent exchange; the job ends");
    abort_job(kNoMessagesExit);
  }

  Progress advance() override { return requests_.advance(); }
  void looked_after(int64_t ns) override { calls_.ns.fetch_add(ns, std::memory_order_relaxed); }

 private:
  int own_rank() const { return peers_->world_rank[size_t(peers_->rank)]; }

  const std::shared_ptr<CommPeers> peers_;
  CommPeers::Calls& calls_;
  const MessageTag own_tag_;  // starts may come in another order on another rank
  const MessageTag end_tag_;
  MessageRequests requests_;
};

struct Table {
  std::mutex mutex;
  std::map<MPI_Request, std::shared_ptr<PersistentExchange>> exchanges;
};

Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

constinit std::atomic<int> g_exchanges = 0;

}  // namespace

int make_persistent_exchange(MPI_Comm comm, const std::shared_ptr<CommPeers>& peers,
                             const ExchangeCall& call, MPI_Request* request,
                             const std::function<int()>& library) {
  const int64_t block = call.block_bytes();
  if (block == 0) return library();
  CommPeers::Calls& calls = peers->calls(call.key(block));
  if (!calls.choice.candidate) {
    peers->count(calls);
    return library();
  }
  MessageTag own;
  const int tag = own.value();
  const auto exchange = std::make_shared<PersistentExchange>(peers, calls, std::move(own));
  const std::vector<int> tags = tell_tags(comm, exchange->has_tags() ? tag : MessageTag::kNone);
  if (tags.empty()) return library();
  *request = handles().request_null;
  if (const int code = exchange->make(call, tags, request); code != MPI_SUCCESS) {
    real().Comm_call_errhandler(comm, code);
    return code;
  }
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  all.exchanges.emplace(*request, exchange);
  g_exchanges.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

bool persistent_exchanges() { return g_exchanges.load(std::memory_order_relaxed) > 0; }

bool start_persistent_exchange(MPI_Request* request, int& result) {
  std::shared_ptr<PersistentExchange> exchange;
  {
    Table& all = table();
    const std::lock_guard guard(all.mutex);
    const auto found = all.exchanges.find(*request);
    if (found == all.exchanges.end()) return false;
    exchange = found->second;
  }
  result = exchange->start(request);
  if (result == MPI_SUCCESS) open_operation(exchange, *request, [exchange] { exchange->end(); });
  return true;
}

void forget_persistent_exchange(MPI_Request request) {
  std::shared_ptr<PersistentExchange> exchange;  // destroyed without the lock: it calls MPI
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  const auto found = all.exchanges.find(request);
  if (found == all.exchanges.end()) return;
  exchange = std::move(found->second);
  all.exchanges.erase(found);
  g_exchanges.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace haichi::mpi
