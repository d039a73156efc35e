#include "gasfs/server/server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/unguessable.h"

namespace haichi::gasfs {
namespace {

constexpr int kHelloPatienceMs = 5000;
/// Connections at a time that have not yet proved who they are.
constexpr int kMostStrangers = 64;
/// How long sessions may take to come back after a start, before what they had open is given up.
constexpr int kGraceMs = 60'000;

}  // namespace

Server::Server(std::unique_ptr<Store> store, const Secret& secret, Descriptor listening)
    : store_(std::move(store)),
      secret_(secret),
      listening_(std::move(listening)),
      identity_{unguessable_number(), store_->id(), store_->index()},
      service_(*store_, identity_.boot) {}

Result<std::unique_ptr<Server>> Server::open(std::unique_ptr<Store> store, const Secret& secret,
                                             Address& address) {
  auto listening = listen_on(address);
  if (!listening) return tl::unexpected(listening.error());
  return std::unique_ptr<Server>(new Server(std::move(store), secret, std::move(*listening)));
}

Status Server::run(int stop_fd) {
  const int64_t grace_ends = now_ns() + int64_t{kGraceMs} * 1'000'000;
  bool in_grace = store_->names() != nullptr;
  for (;;) {
    std::array<pollfd, 2> wait{{{stop_fd, POLLIN, 0}, {listening_.get(), POLLIN, 0}}};
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
    if (wait[1].revents) accept_one();
  }
  end_connections();
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

void Server::accept_one() {
  auto connection = std::make_shared<Connection>();
  connection->fd = Descriptor(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection->fd) return;
  tune_connection(connection->fd.get());
  bound_waiting(connection->fd.get(), kHelloPatienceMs);
  {
    const std::lock_guard lock(mutex_);
    const auto strangers =
        std::ranges::count_if(connections_, [](const auto& c) { return !c->known; });
    if (strangers >= kMostStrangers) {
      ++service_.counters().refused_connections;
      return;
    }
    connection->number = ++accepted_;
    connections_.insert(connection);
  }
  std::thread([this, connection] { serve(connection); }).detach();
}

void Server::serve(const std::shared_ptr<Connection>& connection) {
  if (const auto greeted = greet(connection); greeted) {
    answer_all(*connection);
  } else {
    ++service_.counters().refused_connections;
    log(LogLevel::info, "refused a connection: {}", greeted.error().text);
  }
  ::shutdown(connection->fd.get(), SHUT_RDWR);
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  ended_.notify_all();  // under the lock: behind it this server may be gone
}

Status Server::greet(const std::shared_ptr<Connection>& connection) {
  ServerHello hello(connection->fd.get(), secret_, identity_);
  const auto session = hello.challenge();
  if (!session) return tl::unexpected(session.error());
  connection->session = *session;
  take_over(connection);
  if (auto welcomed = hello.welcome(); !welcomed) return welcomed;
  bound_waiting(connection->fd.get(), 0);
  return {};
}

/// Ends an older connection of the same session before the new one is welcome: what the session
/// sends again must not be overtaken by what is still under way there.
void Server::take_over(const std::shared_ptr<Connection>& connection) {
  std::unique_lock lock(mutex_);
  connection->known = true;
  const auto older = [&](const auto& c) {
    return c->number < connection->number && c->known && c->session == connection->session;
  };
  for (const auto& c : connections_)
    if (older(c)) ::shutdown(c->fd.get(), SHUT_RDWR);
  ended_.wait(lock, [&] { return std::ranges::none_of(connections_, older); });
}

void Server::answer_all(Connection& connection) {
  FrameReader reader;
  for (;;) {
    const auto whole = reader.fill(connection.fd.get());
    if (!whole && whole.error().code != ECONNRESET)
      log(LogLevel::warn, "a connection ends: {}", whole.error().text);
    if (!whole || !*whole) return;
    const Frame frame = reader.take();
    const auto body = service_.answer(connection.session, frame);
    if (!body) return log(LogLevel::warn, "a connection ends: {}", body.error().text);
    if (!send_frame(connection.fd.get(), Kind::reply, frame.header.id, *body)) return;
  }
}

void Server::end_connections() {
  std::unique_lock lock(mutex_);
  for (const auto& connection : connections_) ::shutdown(connection->fd.get(), SHUT_RD);
  ended_.wait(lock, [&] { return connections_.empty(); });
}

}  // namespace haichi::gasfs
