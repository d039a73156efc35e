#include "gasfs/wire/connections.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/log.h"
#include "gasfs/wire/sockets.h"

namespace haichi::gasfs {
namespace {

constexpr int kHelloPatienceMs = 5000;
/// Connections at a time that have not yet proved who they are.
constexpr int kMostStrangers = 64;

}  // namespace

Connections::Connections(Descriptor listening, const Secret& secret, const ServerIdentity& self,
                         Answer answer, std::atomic<uint64_t>& refused)
    : listening_(std::move(listening)),
      secret_(secret),
      self_(self),
      answer_(std::move(answer)),
      refused_(refused) {}

void Connections::accept_one() {
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
      ++refused_;
      return;
    }
    connection->number = ++accepted_;
    connections_.insert(connection);
  }
  std::thread([this, connection] { serve(connection); }).detach();
}

void Connections::serve(const std::shared_ptr<Connection>& connection) {
  if (const auto greeted = greet(connection); greeted) {
    answer_all(*connection);
  } else {
    ++refused_;
    log(LogLevel::info, "refused a connection: {}", greeted.error().text);
  }
  ::shutdown(connection->fd.get(), SHUT_RDWR);
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  ended_.notify_all();  // under the lock: behind it this server may be gone
}

Status Connections::greet(const std::shared_ptr<Connection>& connection) {
  ServerHello hello(connection->fd.get(), secret_, self_);
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
void Connections::take_over(const std::shared_ptr<Connection>& connection) {
  std::unique_lock lock(mutex_);
  connection->known = true;
  const auto older = [&](const auto& c) {
    return c->number < connection->number && c->known && c->session == connection->session;
  };
  for (const auto& c : connections_)
    if (older(c)) ::shutdown(c->fd.get(), SHUT_RDWR);
  ended_.wait(lock, [&] { return std::ranges::none_of(connections_, older); });
}

void Connections::answer_all(Connection& connection) {
  FrameReader reader;
  for (;;) {
    const auto whole = reader.fill(connection.fd.get());
    if (!whole && whole.error().code != ECONNRESET)
      log(LogLevel::warn, "a connection ends: {}", whole.error().text);
    if (!whole || !*whole) return;
    const Frame frame = reader.take();
    const auto body = answer_(connection.session, frame);
    if (!body) return log(LogLevel::warn, "a connection ends: {}", body.error().text);
    if (!send_frame(connection.fd.get(), Kind::reply, frame.header.id, *body)) return;
  }
}

void Connections::end() {
  std::unique_lock lock(mutex_);
  for (const auto& connection : connections_) ::shutdown(connection->fd.get(), SHUT_RD);
  ended_.wait(lock, [&] { return connections_.empty(); });
}

}  // namespace haichi::gasfs
