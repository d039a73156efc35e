// Asks the server of names: numbers what changes something, so that it happens once.
#pragma once

#include <functional>
#include <mutex>
#include <set>

#include "gasfs/dispatcher/link.h"
#include "gasfs/wire/name_messages.h"

namespace haichi::gasfs {

/// Thread-safe.
class NameClient {
 public:
  using Then = std::function<void(Outcome<NameReply>)>;

  explicit NameClient(Link& link) : link_(link) {}

  /// From now on it is told of what is changed; before anything is.
  void set_watcher(std::shared_ptr<ChangeWatcher> watcher) { watcher_ = std::move(watcher); }

  Outcome<NameReply> ask(NameRequest request);
  /// Does not wait; `then` is called by the link's thread and must not either.
  void send(NameRequest request, Then then);

 private:
  Then tell(const NameRequest& request, Then then);

  Link& link_;
  std::shared_ptr<ChangeWatcher> watcher_;
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::set<uint64_t> unanswered_;
};

}  // namespace haichi::gasfs
