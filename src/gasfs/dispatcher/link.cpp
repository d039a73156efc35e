#include "gasfs/dispatcher/link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>

#include "base/clock.h"
#include "base/log.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {
namespace {

constexpr int kConnectMs = 2000;
constexpr int kHelloMs = 5000;
/// Between two tries to connect.
constexpr int kRetryMs = 50;
/// The same, for a server that was given up and of which nothing is asked meanwhile.
constexpr int kProbeMs = 1000;
/// A server that was given up has this part of its patience until it is seen again.
constexpr int kLessPatience = 10;

}  // namespace

Outgoing::Outgoing(Kind kind, size_t body_size) : kind_(kind), bytes_(kHeaderBytes + body_size) {}

Outgoing::Outgoing(Kind kind, std::span<const std::byte> text) : Outgoing(kind, text.size()) {
  std::ranges::copy(text, body().begin());
}

void Outgoing::seal(uint64_t id) {
  const auto head =
      pack({kind_, static_cast<uint32_t>(body().size()), id, checksum_of(kind_, id, body())});
  std::ranges::copy(head, bytes_.data());
}

Link::Link(const LinkOptions& options, Again again)
    : options_(options),
      again_(std::move(again)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Link::~Link() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake();
  thread_.join();
}

void Link::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void Link::forget_wake() {
  uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof count);
}

void Link::send(Outgoing frame, Then then) {
  {
    const std::lock_guard lock(mutex_);
    if (asked_.empty()) progress_ns_ = now_ns();
    const uint64_t id = ++last_id_;
    asked_.push_back({std::move(frame), id, std::move(then)});
  }
  wake();
}

Outcome<std::vector<std::byte>> Link::ask(Outgoing frame) {
  std::promise<Outcome<std::vector<std::byte>>> promise;
  auto answer = promise.get_future();
  send(std::move(frame), [&](int error, std::span<const std::byte> rest) {
    if (error != 0)
      promise.set_value(tl::unexpected(error));
    else
      promise.set_value(std::vector<std::byte>(rest.begin(), rest.end()));
  });
  return answer.get();
}

bool Link::connected() const {
  const std::lock_guard lock(mutex_);
  return connected_;
}

bool Link::given_up() const {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

std::string Link::own_host() const {
  const std::lock_guard lock(mutex_);
  return own_host_;
}

std::string Link::whom() const {
  const auto& name = options_.name;
  return fmt::format("{} at {}", name.empty() ? fmt::format("server {}", options_.index) : name,
                     to_text(options_.address));
}

uint64_t Link::restarts() const {
  const std::lock_guard lock(mutex_);
  return restarts_;
}

bool Link::out_of_patience() const {
  const int64_t patience = options_.patience_ms / (given_up_ ? kLessPatience : 1);
  return now_ns() - progress_ns_ > patience * 1'000'000;
}

void Link::run() {
  for (;;) {
    bool asked = false, hopeless = false, missed = false;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) break;
      asked = !asked_.empty();
      hopeless = asked && out_of_patience();
      missed = given_up_;
    }
    if (hopeless) {
      give_up();
    } else if ((asked || missed) && !socket_ && !connect()) {
      pollfd wait{asked ? -1 : wake_.get(), POLLIN, 0};
      if (::poll(&wait, 1, asked ? kRetryMs : kProbeMs) > 0) forget_wake();
    } else if (auto done = exchange(); !done) {
      disconnect(done.error().text);
    }
  }
  give_up();
}

/// One try. What the server says of itself is compared with what it was before.
bool Link::connect() {
  auto socket = connect_to(options_.address, std::min(kConnectMs, options_.patience_ms));
  std::string why = socket ? "" : socket.error().text;
  if (socket) {
    bound_waiting(socket->get(), std::min(kHelloMs, options_.patience_ms));
    const auto server = introduce(socket->get(), options_.secret, options_.session);
    if (!server)
      why = server.error().text;
    else if (server->index != options_.index)
      why = fmt::format("it is server {}", server->index);
    else if (known_ && known_->store != server->store)
      why = "it has another store than before";
    else
      learn(*server);
  }
  if (!why.empty()) {
    const std::lock_guard lock(mutex_);
    trouble_ = why;
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
    own_host_ = local_host(socket->get());
  }
  bound_waiting(socket->get(), 0);
  fcntl(socket->get(), F_SETFL, fcntl(socket->get(), F_GETFL) | O_NONBLOCK);
  socket_ = std::move(*socket);
  reader_ = FrameReader();
  sent_bytes_ = 0;
  return true;
}

/// Puts what a server that has begun anew must know before all else.
void Link::learn(const ServerIdentity& server) {
  std::vector<Outgoing> first;
  const bool anew = known_ && known_->boot != server.boot;
  if (anew) first = again_();
  const std::lock_guard lock(mutex_);
  if (anew) ++restarts_;
  if (anew) log(LogLevel::info, "{} began anew, asking {} things again", whom(), asked_.size());
  known_ = server;
  connected_ = true;
  given_up_ = false;
  progress_ns_ = now_ns();
  sent_ = 0;
  for (auto frame = first.rbegin(); frame != first.rend(); ++frame) {
    const uint64_t id = ++last_id_;
    asked_.push_front({std::move(*frame), id, [](int, std::span<const std::byte>) {}});
  }
}

/// Sends and receives what can be, and waits for more.
Status Link::exchange() {
  std::array<pollfd, 2> wait{{{wake_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}}};
  int patience = -1;
  {
    const std::lock_guard lock(mutex_);
    if (sent_ < asked_.size()) wait[1].events |= POLLOUT;
    if (!asked_.empty()) {
      const int64_t ends = progress_ns_ + int64_t{options_.patience_ms} * 1'000'000;
      patience = static_cast<int>(std::max<int64_t>(0, (ends - now_ns()) / 1'000'000) + 1);
    }
  }
  const int ready = ::poll(wait.data(), socket_ ? 2 : 1, patience);
  if (ready < 0 && errno != EINTR) return fail(errno, "poll: {}", std::strerror(errno));
  if (ready <= 0) return {};
  if (wait[0].revents) forget_wake();
  if (!socket_) return {};
  if (wait[1].revents & (POLLIN | POLLERR | POLLHUP))
    if (auto received = receive_some(); !received) return received;
  return send_some();
}

Status Link::send_some() {
  for (;;) {
    Outgoing* frame = nullptr;
    {
      // Only this thread takes frames off the front, and a deque leaves the others where they are.
      const std::lock_guard lock(mutex_);
      if (sent_ == asked_.size()) return {};
      frame = &asked_[sent_].frame;
      if (sent_bytes_ == 0) frame->seal(asked_[sent_].id);
    }
    const auto left = frame->bytes().subspan(sent_bytes_);
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return fail(errno, "sending failed: {}", std::strerror(errno));
    sent_bytes_ += static_cast<size_t>(sent);
    if (sent_bytes_ < frame->bytes().size()) continue;
    sent_bytes_ = 0;
    const std::lock_guard lock(mutex_);
    ++sent_;
  }
}

Status Link::receive_some() {
  for (;;) {
    const auto whole = reader_.fill(socket_.get());
    if (!whole) return tl::unexpected(whole.error());
    if (!*whole) return {};
    const Frame frame = reader_.take();
    const auto reply = unpack_reply(frame.body.span());
    if (frame.header.kind != Kind::reply || !reply) return fail(EPROTO, "an answer that is none");
    Then then;
    {
      const std::lock_guard lock(mutex_);
      // The server answers in the order in which it is asked.
      if (sent_ == 0 || asked_.front().id != frame.header.id)
        return fail(EPROTO, "an answer to what was not asked");
      then = std::move(asked_.front().then);
      asked_.pop_front();
      --sent_;
      progress_ns_ = now_ns();
    }
    then(reply->error, reply->rest);
  }
}

void Link::disconnect(const std::string& why) {
  socket_.reset();
  const std::lock_guard lock(mutex_);
  connected_ = false;
  sent_ = 0;
  trouble_ = why;
  log(LogLevel::info, "{}: {}", whom(), why);
}

void Link::give_up() {
  std::deque<Asked> given;
  socket_.reset();
  {
    const std::lock_guard lock(mutex_);
    given.swap(asked_);
    sent_ = 0;
    connected_ = false;
    given_up_ = true;
    if (!ending_)
      log(LogLevel::error, "{} does not answer: {} requests are given up; {}", whom(), given.size(),
          trouble_.empty() ? "it is there, and silent" : trouble_);
  }
  for (Asked& one : given) one.then(ETIMEDOUT, {});
}

}  // namespace haichi::gasfs
