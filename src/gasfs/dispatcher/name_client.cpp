#include "gasfs/dispatcher/name_client.h"

#include <cerrno>
#include <future>
#include <vector>

namespace haichi::gasfs {

namespace {

/// Whose attributes or entries the request changes; none: of any.
std::vector<Inode> touched_by(const NameRequest& request) {
  switch (request.op) {
    case NameOp::unlink:  // of whose files only the server knows the numbers
    case NameOp::rmdir:
    case NameOp::rename:
      return {};
    case NameOp::link:
      return {request.inode, request.other};
    default:
      return {request.inode};
  }
}

}  // namespace

/// What is told of is told of until it is answered. What is given up may yet be carried out, and is
/// told of for good.
NameClient::Then NameClient::tell(const NameRequest& request, Then then) {
  if (!watcher_ || !is_seen(request.op)) return then;
  auto touched = touched_by(request);
  watcher_->changing(touched);
  return [watcher = watcher_, touched = std::move(touched),
          then = std::move(then)](Outcome<NameReply> reply) {
    if (reply || reply.error() != ETIMEDOUT) watcher->changed(touched);
    then(std::move(reply));
  };
}

void NameClient::send(NameRequest request, Then then) {
  const bool changes = request.op >= kFirstChange;
  then = tell(request, std::move(then));
  if (changes) {
    const std::lock_guard lock(mutex_);
    request.sequence = ++last_;
    unanswered_.insert(request.sequence);
    request.settled = *unanswered_.begin();
  }
  link_.send(Outgoing(Kind::names, pack_name_request(request)),
             [this, changes, number = request.sequence, then = std::move(then)](
                 int error, std::span<const std::byte> rest) {
               // One that was given up stays unanswered: the server may yet carry it out.
               if (changes && error != ETIMEDOUT) {
                 const std::lock_guard lock(mutex_);
                 unanswered_.erase(number);
               }
               if (error != 0) return then(tl::unexpected(error));
               auto reply = unpack_name_reply(rest);
               then(reply ? Outcome<NameReply>(std::move(*reply)) : tl::unexpected(EIO));
             });
}

Outcome<NameReply> NameClient::ask(NameRequest request) {
  std::promise<Outcome<NameReply>> promise;
  auto answer = promise.get_future();
  send(std::move(request), [&](Outcome<NameReply> reply) { promise.set_value(std::move(reply)); });
  return answer.get();
}

}  // namespace haichi::gasfs
