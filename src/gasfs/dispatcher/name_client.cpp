#include "gasfs/dispatcher/name_client.h"

#include <cerrno>
#include <future>

namespace haichi::gasfs {

void NameClient::send(NameRequest request, Then then) {
  const bool changes = request.op >= kFirstChange;
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
