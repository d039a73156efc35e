#include "gasfs/dispatcher/holding.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <future>
#include <optional>

#include "base/log.h"
#include "base/unguessable.h"

namespace haichi::gasfs {
namespace {

using std::chrono::milliseconds;

/// Chunks that are asked for at once.
constexpr size_t kWindow = 4;
/// So long a node waits for what another asked it for, and then says that it is still to come.
constexpr int kGiveMs = 200;
/// So long a node may take to begin with a file.
constexpr int kBeginMs = 3000;
constexpr milliseconds kAgain{20};
/// A node that is silent for so long is given up.
constexpr int kSilentMs = 5000;
constexpr size_t kMostAtOnce = 16, kMostTold = 256;

struct Answer {
  int error = 0;
  std::vector<std::byte> bytes;
};

}  // namespace

/// A chunk, and whom it was asked of: a node's place in the row, behind all of them the servers.
struct Holding::Asked {
  KeptBlocks::Held chunk;
  size_t node = 0;
  std::future<Answer> answer{};
};

/// Whom the file is fetched from: one of the nodes before this one, or the servers.
class Holding::Source {
 public:
  Source(Holding& holding, Task& task, const Coming& coming)
      : holding_(holding), task_(task), coming_(coming) {}

  Asked ask(KeptBlocks::Held chunk);
  /// Waits until it has come, from whoever has it: an errno value.
  int take(Asked asked);
  /// Nobody waits for it any more.
  void drop(const Asked& asked);

 private:
  const std::vector<Address>& row() const { return task_.what.from; }
  bool put(const Asked& asked, const Answer& answer);
  bool may_come(int error) const;
  void go_on_without(int error);

  Holding& holding_;
  Task& task_;
  const Coming& coming_;
  const int64_t began_ms_ = Dispatcher::now_ms();
  int64_t came_ms_ = began_ms_;
  size_t node_ = 0;
  std::unique_ptr<Link> link_;
};

Holding::Asked Holding::Source::ask(KeptBlocks::Held chunk) {
  if (node_ == row().size()) {
    holding_.ask_servers(coming_, chunk);
    return {std::move(chunk), node_};
  }
  if (!link_) {
    const Dispatcher& files = holding_.files_;
    const LinkOptions options{.address = row()[node_],
                              .secret = files.options_.secret,
                              .session = unguessable_number(),
                              .name = "the node",
                              .patience_ms = std::min(kSilentMs, files.options_.patience_ms)};
    link_ = std::make_unique<Link>(options, [] { return std::vector<Outgoing>(); });
  }
  auto promise = std::make_shared<std::promise<Answer>>();
  const PullMessage pull{coming_.file->inode, coming_.state.changed, coming_.state.stale,
                         chunk->offset, static_cast<uint32_t>(chunk->bytes.size())};
  link_->send(Outgoing(Kind::pull, pack_pull(pull)),
              [promise](int error, std::span<const std::byte> rest) {
                promise->set_value({error, {rest.begin(), rest.end()}});
              });
  return {std::move(chunk), node_, promise->get_future()};
}

bool Holding::Source::put(const Asked& asked, const Answer& answer) {
  auto& into = asked.chunk->bytes;
  if (answer.error != 0 || answer.bytes.size() != into.size()) return false;
  std::ranges::copy(answer.bytes, into.begin());
  holding_.files_.pulled_bytes_ += into.size();
  came_ms_ = Dispatcher::now_ms();
  holding_.files_.kept_.arrived(asked.chunk, 0);
  const std::lock_guard lock(holding_.mutex_);
  task_.told.by_node += into.size();
  return true;
}

/// Whether the node may have it a little later: what it waits for itself, or has not begun with.
bool Holding::Source::may_come(int error) const {
  const int64_t now = Dispatcher::now_ms();
  if (error == EAGAIN) return now - came_ms_ < holding_.files_.options_.patience_ms;
  return error == ENOENT && now - began_ms_ < kBeginMs;
}

void Holding::Source::go_on_without(int error) {
  holding_.note(task_, fmt::format("{} does not give it: {}", to_text(row()[node_]),
                                   error == ESTALE || error == ENOENT
                                       ? "it does not hold what the server of names tells of"
                                       : std::strerror(error)));
  ++node_;
  link_.reset();  // what else was asked of it is answered so
  came_ms_ = Dispatcher::now_ms();
}

int Holding::Source::take(Asked asked) {
  for (;;) {
    if (asked.node == row().size()) return holding_.files_.kept_.wait(asked.chunk);
    const Answer answer = asked.answer.get();
    if (put(asked, answer)) return 0;
    if (holding_.ending_) {
      drop(asked);
      return ECANCELED;
    }
    if (asked.node == node_ && !may_come(answer.error))
      go_on_without(answer.error == 0 ? EPROTO : answer.error);
    else if (answer.error == ENOENT)
      std::this_thread::sleep_for(kAgain);
    asked = ask(asked.chunk);
  }
}

void Holding::Source::drop(const Asked& asked) {
  if (asked.node < row().size()) holding_.files_.kept_.arrived(asked.chunk, ECANCELED);
}

Holding::~Holding() {
  ending_ = true;
  if (listening_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    listening_.join();
  }
  if (connections_) connections_->end();
  for (const auto& [inode, task] : tasks_) task->thread.join();
}

Result<Address> Holding::listen() {
  // By the way on which this node reaches the servers.
  Address address{files_.links_[0]->own_host(), 0};
  auto listening = listen_on(address);
  if (!listening) return tl::unexpected(listening.error());
  stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return fail(errno, "no eventfd: {}", std::strerror(errno));
  const ServerIdentity self{unguessable_number(), unguessable_number(), 0};
  connections_ = std::make_unique<Connections>(
      std::move(*listening), files_.options_.secret, self,
      [this](uint64_t, const Frame& frame) { return answer(frame); }, refused_);
  listening_ = std::thread([this] {
    std::array<pollfd, 2> wait{{{stop_.get(), POLLIN, 0}, {connections_->fd(), POLLIN, 0}}};
    while (wait[0].revents == 0)
      if (::poll(wait.data(), wait.size(), -1) > 0 && wait[1].revents) connections_->accept_one();
  });
  return address;
}

Result<std::vector<std::byte>> Holding::answer(const Frame& frame) {
  const auto body = frame.body.span();
  if (frame.header.kind == Kind::pull) return give(body);
  if (frame.header.kind == Kind::status) {
    const std::string text = files_.status();
    return pack_reply(0, std::as_bytes(std::span(text)));
  }
  if (frame.header.kind == Kind::hold) {
    const auto what = unpack_hold(body);
    if (!what) return tl::unexpected(what.error());
    return pack_reply(begin(*what));
  }
  if (frame.header.kind != Kind::held && frame.header.kind != Kind::let_go)
    return fail(EPROTO, "a node is asked for what it has not: {}",
                static_cast<int>(frame.header.kind));
  const auto which = unpack_object(body);
  if (!which) return tl::unexpected(which.error());
  if (frame.header.kind == Kind::let_go) files_.kept_.unpin(which->inode);
  return pack_reply(0, pack_held(tell(which->inode)));
}

int Holding::begin(const HoldMessage& what) {
  const std::lock_guard lock(mutex_);
  if (ending_) return ESHUTDOWN;
  forget_old();
  auto& task = tasks_[what.inode];
  if (task && !task->over) return 0;  // it is on its way
  const auto coming = std::ranges::count_if(
      tasks_, [](const auto& each) { return each.second && !each.second->over; });
  if (coming >= static_cast<long>(kMostAtOnce)) {
    if (!task) tasks_.erase(what.inode);
    return EBUSY;
  }
  if (task) task->thread.join();
  task = std::make_unique<Task>();
  task->what = what;
  task->told.state = HeldMessage::State::coming;
  task->thread = std::thread([this, &task = *task] { run(task); });
  return 0;
}

/// How it went with files of which nobody has asked for long.
void Holding::forget_old() {
  for (auto each = tasks_.begin(); tasks_.size() > kMostTold && each != tasks_.end();) {
    if (each->second->over) each->second->thread.join();
    each = each->second->over ? tasks_.erase(each) : std::next(each);
  }
}

void Holding::run(Task& task) {
  const int error = fetch(task);
  const std::lock_guard lock(mutex_);
  task.told.state = error == 0 ? HeldMessage::State::held : HeldMessage::State::failed;
  if (error == 0) task.told.bytes = task.told.size;
  if (error != 0)
    task.told.trouble = error == EBUSY || error == ESTALE ? "it is being changed"
                        : error == ENOSPC ? "it does not fit: start or mount with a larger --pinned"
                                          : std::strerror(error);
  task.over = true;
}

void Holding::note(Task& task, const std::string& trouble) {
  log(LogLevel::warn, "file {} is to be held: {}", task.what.inode, trouble);
  const std::lock_guard lock(mutex_);
  task.told.trouble = trouble;
}

int Holding::fetch(Task& task) {
  const Inode inode = task.what.inode;
  const auto opened = files_.open(inode, O_RDONLY);
  if (!opened) return opened.error();
  Coming coming{files_.find_file(inode)};
  int error = prepare(coming);
  {
    const std::lock_guard lock(mutex_);
    task.told.size = coming.size;
  }
  const bool is_new = error == 0;
  if (is_new) error = fetch_all(task, coming);
  if (error == 0 && !files_.kept_.pinned_whole(inode)) error = ESTALE;
  if (is_new && error != 0) files_.kept_.unpin(inode);
  files_.release(opened->handle);
  return error == EEXIST ? 0 : error;
}

/// What this node has written is at the servers, and the server of names knows of it; then it tells
/// of the file, which is pinned as it is now.
int Holding::prepare(Coming& coming) {
  const File& file = coming.file;
  {
    std::unique_lock lock(file->mutex);
    files_.scatter_->finish(file, lock);
    coming.version = file->version;
  }
  const int64_t asked_ms = Dispatcher::now_ms();
  auto reply = files_.names_->ask({.op = NameOp::getattr, .inode = file->inode});
  if (!reply) return reply.error();
  coming.state = {reply->attributes.changed, reply->layout.stale};
  coming.size = reply->attributes.size;
  {
    const std::lock_guard lock(file->mutex);
    if (file->version != coming.version || file->told_early) return EBUSY;
    file->layout.stale |= reply->layout.stale;
    files_.reconcile(*file, coming.version, reply->attributes);
  }
  files_.kept_.confirm(file->inode, coming.state, asked_ms);
  const int error = files_.kept_.pin(file->inode, coming.state, coming.size);
  if (error != ENOSPC) return error;
  make_room();
  return files_.kept_.pin(file->inode, coming.state, coming.size);
}

/// Lets go what has changed or is gone since.
void Holding::make_room() {
  for (const Inode inode : files_.kept_.pinned())
    if (const auto there = files_.getattr(inode);
        !there && (there.error() == ENOENT || there.error() == ESTALE))
      files_.kept_.drop(inode);
}

int Holding::fetch_all(Task& task, const Coming& coming) {
  Source source(*this, task, coming);
  std::deque<Asked> asked;
  int error = 0;
  for (uint64_t at = 0; error == 0 && (at < coming.size || !asked.empty());) {
    if (ending_) {
      error = ECANCELED;
    } else if (at < coming.size && asked.size() < kWindow) {
      std::optional<KeptBlocks::Held> chunk;
      {
        const std::lock_guard lock(coming.file->mutex);
        if (coming.file->version == coming.version)
          chunk = files_.kept_.missing_of_pinned(coming.file->inode, at, coming.size, kMostPulled,
                                                 coming.size);
      }
      if (!chunk) {
        error = ESTALE;
      } else if (!*chunk) {  // somebody reads it
        at = (at / KeptBlocks::kBlock + 1) * KeptBlocks::kBlock;
      } else {
        at = (*chunk)->end();
        asked.push_back(source.ask(std::move(*chunk)));
      }
    } else {
      const uint64_t bytes = asked.front().chunk->bytes.size();
      error = source.take(std::move(asked.front()));
      asked.pop_front();
      const std::lock_guard lock(mutex_);
      if (error == 0) task.told.bytes += bytes;
    }
  }
  for (const Asked& one : asked) source.drop(one);
  return error;
}

void Holding::ask_servers(const Coming& coming, const KeptBlocks::Held& chunk) {
  const std::lock_guard lock(coming.file->mutex);
  files_.fetch(coming.file, {chunk});
}

Result<std::vector<std::byte>> Holding::give(std::span<const std::byte> body) {
  const auto pull = unpack_pull(body);
  if (!pull) return tl::unexpected(pull.error());
  std::vector<std::byte> reply = pack_reply(0);
  const size_t head = reply.size();
  reply.resize(head + pull->length);
  int error = files_.kept_.copy_pinned(pull->inode, {pull->changed, pull->stale}, pull->offset,
                                       std::span(reply).subspan(head), kGiveMs);
  if (error == 0) {
    files_.given_bytes_ += pull->length;
    return reply;
  }
  if (error == ENOENT && tell(pull->inode).state == HeldMessage::State::failed) error = ESTALE;
  return pack_reply(error);
}

HeldMessage Holding::tell(Inode inode) {
  const std::lock_guard lock(mutex_);
  const auto task = tasks_.find(inode);
  HeldMessage told = task == tasks_.end() ? HeldMessage{} : task->second->told;
  if (told.state == HeldMessage::State::held && !files_.kept_.is_pinned(inode))
    told.state = HeldMessage::State::none;
  return told;
}

}  // namespace haichi::gasfs
