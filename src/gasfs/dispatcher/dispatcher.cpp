// Opening, closing, and what is written.
#include "gasfs/dispatcher/dispatcher.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>

#include "base/log.h"
#include "base/unguessable.h"

namespace haichi::gasfs {
namespace {

/// A server other than that of names has this part of its patience when a node begins.
constexpr int kLessPatience = 10;

}  // namespace

Dispatcher::Dispatcher(const DispatcherOptions& options)
    : options_(options), budget_(options.memory), kept_(options.cache, options.pinned) {
  const uint64_t session = unguessable_number();
  for (uint32_t i = 0; i < options_.servers.size(); ++i) {
    const LinkOptions link{.address = options_.servers[i],
                           .secret = options_.secret,
                           .session = session,
                           .index = i,
                           .patience_ms = options_.patience_ms};
    Link::Again again = [] { return std::vector<Outgoing>(); };
    if (i == 0) again = [this] { return open_again(); };
    links_.push_back(std::make_unique<Link>(link, std::move(again)));
  }
  names_ = std::make_unique<NameClient>(*links_[0]);
  scatter_ = std::make_unique<Scatter>(
      links_, *names_, budget_,
      ScatterOptions{options_.arrange, std::max(options_.memory / 4, options_.sub_buffer),
                     options_.trace.get()});
  ager_ = std::thread([this] { send_aged(); });
}

Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock(aging_mutex_);
    ending_ = true;
  }
  aging_.notify_all();
  ager_.join();
  (void)finish();
  links_.clear();
}

Status Dispatcher::begin() {
  std::vector<std::future<int>> answers;
  for (auto& link : links_) {
    auto answer = std::make_shared<std::promise<int>>();
    answers.push_back(answer->get_future());
    link->send(Outgoing(Kind::space, size_t{0}),
               [answer](int error, std::span<const std::byte>) { answer->set_value(error); });
  }
  const auto ends = std::chrono::steady_clock::now() +
                    std::chrono::milliseconds(options_.patience_ms / kLessPatience);
  for (uint32_t i = 0; i < links_.size(); ++i) {
    const bool came = i == 0 || answers[i].wait_until(ends) == std::future_status::ready;
    const int error = came ? answers[i].get() : ETIMEDOUT;
    if (error == 0) continue;
    if (i == 0 || error != ETIMEDOUT)
      return fail(error, "server {} at {} does not answer: {}", i, to_text(links_[i]->address()),
                  std::strerror(error));
    log(LogLevel::warn, "server {} at {} does not answer: what it alone has can't be used", i,
        to_text(links_[i]->address()));
  }
  const auto root = getattr(kRoot);
  if (!root) return fail(root.error(), "the first server has no names");
  return {};
}

Status Dispatcher::finish() {
  std::vector<File> files;
  uint64_t lost = 0;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [inode, file] : files_) files.push_back(file);
    lost = lost_files_;
  }
  int error = 0;
  for (const File& file : files) {
    std::unique_lock lock(file->mutex);
    const uint64_t errors = file->errors;
    scatter_->finish(file, lock);
    if (file->errors == errors) continue;
    ++lost;
    error = file->error;
  }
  if (lost > 0)
    return fail(error ? error : EIO, "of {} files not all that was written is at the servers",
                lost);
  return {};
}

/// What a server of names that has begun anew does not know: which files are open here.
std::vector<Outgoing> Dispatcher::open_again() {
  std::vector<Outgoing> frames;
  const std::shared_lock lock(mutex_);
  for (const auto& [inode, file] : files_)
    if (file->handles > 0)
      frames.emplace_back(
          Kind::names,
          pack_name_request({.op = NameOp::open, .inode = inode, .number = file->handles}));
  return frames;
}

Outcome<Dispatcher::Shared> Dispatcher::find(Handle handle) const {
  const std::shared_lock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return tl::unexpected(EBADF);
  return found->second;
}

File Dispatcher::find_file(Inode inode) const {
  const std::shared_lock lock(mutex_);
  const auto found = files_.find(inode);
  return found == files_.end() ? nullptr : found->second;
}

/// The file, from now on one of those that are open here; under the lock of these.
File Dispatcher::known_file(Inode inode) {
  File& known = files_[inode];
  if (!known) known = std::make_shared<NodeFile>(inode, options_.sub_buffer);
  return known;
}

/// A description of a file whose `handles` count it already.
Opened Dispatcher::add(const File& file, int flags, const NameReply& reply) {
  auto description = std::make_shared<Description>(Description{file, flags});
  {
    const std::lock_guard lock(file->mutex);
    description->errors_seen = file->errors;
  }
  const std::lock_guard lock(mutex_);
  handles_[++last_handle_] = std::move(description);
  return {reply.attributes, last_handle_};
}

Outcome<Opened> Dispatcher::create(Inode folder, std::string_view name, const NewFile& wanted,
                                   int flags) {
  NameRequest request{.op = NameOp::make,
                      .inode = folder,
                      .name = std::string(name),
                      .file = wanted,
                      .flags = kOpens};
  request.file.mode = S_IFREG | (wanted.mode & 07777);
  const auto reply = names_->ask(std::move(request));
  if (!reply) return tl::unexpected(reply.error());
  if (reply->layout.servers > links_.size()) return tl::unexpected(EIO);
  File file;
  {
    const std::lock_guard lock(mutex_);
    // Another process of the node may have found and opened it already.
    file = known_file(reply->attributes.inode);
    if (file->handles++ > 0)
      names_->send({.op = NameOp::open, .inode = file->inode, .number = file->handles},
                   [](const Outcome<NameReply>&) {});
  }
  {
    const std::lock_guard lock(file->mutex);
    file->layout = reply->layout;
  }
  kept_.opened(file->inode, {reply->attributes.changed, reply->layout.stale}, now_ms());
  return add(file, flags, *reply);
}

Outcome<Opened> Dispatcher::open(Inode inode, int flags) {
  const int64_t asked_ms = now_ms();
  File file;
  uint64_t version = 0;
  std::promise<Outcome<NameReply>> promise;
  auto answer = promise.get_future();
  {
    // In one go, so that the server hears of the counts in their order.
    const std::lock_guard lock(mutex_);
    file = known_file(inode);
    version = version_of(file);
    names_->send({.op = NameOp::open, .inode = inode, .number = ++file->handles},
                 [&](Outcome<NameReply> reply) { promise.set_value(std::move(reply)); });
  }
  auto reply = answer.get();
  if (reply && (!S_ISREG(reply->attributes.mode) || reply->layout.servers > links_.size()))
    reply = tl::unexpected(S_ISDIR(reply->attributes.mode) ? EISDIR : EIO);
  if (!reply) {
    count_close(file);
    return tl::unexpected(reply.error());
  }
  {
    const std::lock_guard lock(file->mutex);
    // Which does not change while somebody has it open, but for what was lost.
    const uint64_t stale = file->layout.stale;
    file->layout = reply->layout;
    file->layout.stale |= stale;
    kept_.opened(inode, {reply->attributes.changed, reply->layout.stale}, asked_ms);
    reconcile(*file, version, reply->attributes);
  }
  Opened opened = add(file, flags, *reply);
  if (flags & O_TRUNC) {
    Changes cut;
    cut.size = 0;
    auto attributes = set_size(inode, file, cut);
    if (!attributes) {
      release(opened.handle);
      return tl::unexpected(attributes.error());
    }
    opened.attributes = *attributes;
  }
  return opened;
}

void Dispatcher::release(Handle handle) {
  Shared description;
  {
    const std::lock_guard lock(mutex_);
    const auto found = handles_.find(handle);
    if (found == handles_.end()) return;
    description = std::move(found->second);
    handles_.erase(found);
  }
  const File& file = description->file;
  bool lost = false;
  {
    std::unique_lock lock(file->mutex);
    const uint64_t errors = std::max(description->errors_seen, file->errors);
    scatter_->finish(file, lock);
    lost = file->errors > errors;  // behind the last flush: nobody is there to be told
  }
  if (lost) {
    const std::lock_guard lock(mutex_);
    ++lost_files_;
  }
  count_close(file);
}

/// One description less. The last one of this node takes the file with it.
void Dispatcher::count_close(const File& file) {
  const std::lock_guard lock(mutex_);
  const uint64_t left = --file->handles;
  if (left == 0) {
    files_.erase(file->inode);
    kept_.closed(file->inode);
  }
  names_->send({.op = NameOp::close, .inode = file->inode, .number = left},
               [this](Outcome<NameReply> reply) {
                 if (reply) drop_objects(*reply);
               });
}

void Dispatcher::drop_objects(const NameReply& reply) {
  if (!reply.gone) return;
  kept_.drop(reply.gone_inode);
  const auto body = pack_object({reply.gone_inode, 0});
  for (auto& link : links_)
    link->send(Outgoing(Kind::remove, body), [](int, std::span<const std::byte>) {});
}

void Dispatcher::gather(const File& file, uint64_t offset, std::span<const std::byte> bytes) {
  const bool first = file->pending.empty();
  file->pending.push_back({offset, bytes.size(), file->memory.size()});
  file->memory.insert(file->memory.end(), bytes.begin(), bytes.end());
  if (options_.trace) options_.trace->request(file->inode, offset, bytes.size());
  budget_.take(bytes.size());
  kept_.drop(file->inode, offset, bytes.size());
  file->size = std::max(file->size, offset + bytes.size());
  clock_gettime(CLOCK_REALTIME, &file->modified);
  file->grown = true;
  ++file->version;
  written_bytes_ += bytes.size();
  if (first) {
    const std::lock_guard lock(aging_mutex_);
    if (gathering_.insert(file).second) aging_.notify_all();
  }
  if (file->memory.size() >= file->sub_buffer) scatter_->issue(file, true);
}

Outcome<size_t> Dispatcher::write(Handle handle, uint64_t offset, std::span<const std::byte> bytes,
                                  pid_t) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  if (((*description)->flags & O_ACCMODE) == O_RDONLY) return tl::unexpected(EBADF);
  if (bytes.empty()) return 0;
  if ((*description)->flags & O_APPEND) return append(**description, bytes);
  if (offset > kMostOffset - bytes.size()) return tl::unexpected(EFBIG);
  const File& file = (*description)->file;
  {
    const std::lock_guard lock(file->mutex);
    if ((*description)->errors_seen != file->errors) return tl::unexpected(file->error);
    gather(file, offset, bytes);
  }
  if (budget_.over()) make_room();
  if ((*description)->flags & O_DSYNC)  // a bit of O_SYNC
    if (auto done = finish_writes(**description, true); !done) return tl::unexpected(done.error());
  return bytes.size();
}

/// The server of names says where the end is, for all nodes.
Outcome<size_t> Dispatcher::append(Description& description, std::span<const std::byte> bytes) {
  const File& file = description.file;
  std::promise<Outcome<NameReply>> promise;
  auto answer = promise.get_future();
  {
    const std::lock_guard lock(file->mutex);
    if (description.errors_seen != file->errors) return tl::unexpected(file->error);
    scatter_->issue_all(file);
    names_->send({.op = NameOp::append, .inode = file->inode, .number = bytes.size()},
                 [&](Outcome<NameReply> reply) { promise.set_value(std::move(reply)); });
  }
  const auto place = answer.get();
  if (!place) return tl::unexpected(place.error());
  {
    const std::lock_guard lock(file->mutex);
    gather(file, place->number, bytes);
  }
  if (auto done = finish_writes(description, description.flags & O_DSYNC); !done)
    return tl::unexpected(done.error());
  return bytes.size();
}

/// Sends what all files have gathered and waits until enough of it has arrived.
void Dispatcher::make_room() {
  std::set<File> files;
  {
    const std::lock_guard lock(aging_mutex_);
    files = gathering_;
  }
  for (const File& file : files) {
    const std::lock_guard lock(file->mutex);
    scatter_->issue(file);
  }
  budget_.wait();
}

Done Dispatcher::flush(Handle handle) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  return finish_writes(**description, options_.durable_close);
}

Done Dispatcher::fsync(Handle handle, bool) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  return finish_writes(**description, true);
}

Done Dispatcher::finish_writes(Description& description, bool durable) {
  const File& file = description.file;
  std::unique_lock lock(file->mutex);
  scatter_->finish(file, lock);
  if (durable) {  // what has arrived goes to the disks
    const Layout layout = file->layout;
    lock.unlock();
    const int error = ask_all(Kind::sync, {file->inode, 0}, layout, file);
    lock.lock();
    if (error != 0) Scatter::latch(*file, error);
  }
  if (description.errors_seen == file->errors) return {};
  description.errors_seen = file->errors;
  return tl::unexpected(file->error);
}

/// The thread that sends what has been gathered for long enough. Asleep while nothing is.
void Dispatcher::send_aged() {
  std::unique_lock lock(aging_mutex_);
  for (;;) {
    aging_.wait(lock, [&] { return ending_ || !gathering_.empty(); });
    if (ending_) return;
    aging_.wait_for(lock, std::chrono::milliseconds(options_.linger_ms), [&] { return ending_; });
    if (ending_) return;
    std::set<File> files, again;
    files.swap(gathering_);
    lock.unlock();
    for (const File& file : files) {
      const std::lock_guard file_lock(file->mutex);
      scatter_->issue_all(file);
      if (file->told_early) again.insert(file);
    }
    lock.lock();
    gathering_.merge(again);
  }
}

}  // namespace haichi::gasfs
