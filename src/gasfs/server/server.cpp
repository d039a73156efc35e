#include "gasfs/server/server.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/log.h"
#include "base/unguessable.h"

namespace haichi::gasfs {
namespace {

/// How long sessions may take to come back after a start, before what they had open is given up.
constexpr int kGraceMs = 60'000;

}  // namespace

Server::Server(std::unique_ptr<Store> store, const Secret& secret, Descriptor listening,
               const ServiceOptions& options)
    : store_(std::move(store)),
      identity_{unguessable_number(), store_->id(), store_->index()},
      service_(*store_, identity_.boot, options),
      connections_(
          std::move(listening), secret, identity_,
          [this](uint64_t session, const Frame& frame) { return service_.answer(session, frame); },
          service_.counters().refused_connections) {}

Result<std::unique_ptr<Server>> Server::open(std::unique_ptr<Store> store, const Secret& secret,
                                             Address& address, const ServiceOptions& options) {
  auto listening = listen_on(address);
  if (!listening) return tl::unexpected(listening.error());
  return std::unique_ptr<Server>(
      new Server(std::move(store), secret, std::move(*listening), options));
}

Status Server::run(int stop_fd) {
  const int64_t grace_ends = now_ns() + int64_t{kGraceMs} * 1'000'000;
  bool in_grace = store_->names() != nullptr;
  for (;;) {
    std::array<pollfd, 2> wait{{{stop_fd, POLLIN, 0}, {connections_.fd(), POLLIN, 0}}};
    const int64_t left_ms = (grace_ends - now_ns()) / 1'000'000 + 1;
    const int ready = ::poll(wait.data(), wait.size(),
                             in_grace ? static_cast<int>(std::max<int64_t>(left_ms, 0)) : -1);
    if (ready < 0 && errno != EINTR) return fail(errno, "poll: {}", std::strerror(errno));
    if (in_grace && now_ns() >= grace_ends) {
      in_grace = false;
      drop_orphans();
    }
    if (ready <= 0) continue;
    if (wait[0].revents) break;
    if (wait[1].revents) connections_.accept_one();
  }
  connections_.end();
  if (const auto synced = store_->sync(); !synced)
    return fail(synced.error(), "not all of the store could be brought to the disk: {}",
                std::strerror(synced.error()));
  return {};
}

void Server::drop_orphans() {
  const auto gone = store_->names()->drop_orphans();
  if (!gone)
    return log(LogLevel::warn, "files without a name stay: {}", std::strerror(gone.error()));
  for (const Inode inode : *gone) (void)store_->objects().remove(inode);
}

}  // namespace haichi::gasfs
