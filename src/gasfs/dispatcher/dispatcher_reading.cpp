// Reading, sizes, and what a file's attributes are while it is being written.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gasfs/dispatcher/dispatcher.h"
#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs {
namespace {

/// With more requests gathered it is cheaper to send them than to look through them.
constexpr size_t kMostOverlaid = 256;

/// Answers that are waited for together.
class Answers {
 public:
  explicit Answers(size_t number) : left_(number) {}
  void come() {
    const std::lock_guard lock(mutex_);
    --left_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
};

/// The bytes of what is gathered, as they are now.
struct Copied {
  uint64_t at;
  std::vector<std::byte> bytes;
};

bool is_before(const timespec& a, const timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

bool covers(const std::vector<Patch>& patches, uint64_t length) {
  return std::ranges::any_of(patches,
                             [&](const Patch& p) { return p.at == 0 && p.length == length; });
}

}  // namespace

uint64_t Dispatcher::version_of(const File& file) {
  if (!file) return 0;
  const std::lock_guard lock(file->mutex);
  return file->version;
}

void Dispatcher::add_gathered(const NodeFile& file, Attributes& attributes) {
  if (file.grown || !file.flying.empty()) attributes.size = std::max(attributes.size, file.size);
  attributes.blocks = (attributes.size + 511) / 512;
  if (!file.grown) return;
  attributes.modified = file.modified;
  // A name may have been given to it since.
  if (is_before(attributes.changed, file.modified)) attributes.changed = file.modified;
}

void Dispatcher::reconcile(NodeFile& file, uint64_t version, Attributes& attributes) {
  if (file.version != version) attributes.size = std::max(attributes.size, file.size);
  add_gathered(file, attributes);
  if (file.version == version) file.size = attributes.size;
}

Outcome<Attributes> Dispatcher::getattr(Inode inode) {
  const File file = find_file(inode);
  const uint64_t version = version_of(file);
  const int64_t asked_ms = now_ms();
  auto reply = names_->ask({.op = NameOp::getattr, .inode = inode});
  if (!reply) return tl::unexpected(reply.error());
  const KeptBlocks::State state{reply->attributes.changed, reply->layout.stale};
  if (file) {
    const std::lock_guard lock(file->mutex);
    file->layout.stale |= reply->layout.stale;
    reconcile(*file, version, reply->attributes);
  }
  // Now that nothing is read of a stale server any more, to be kept.
  kept_.confirm(inode, state, asked_ms);
  return reply->attributes;
}

/// Also asks the server of names, where a read would go beyond what is known here or what is kept
/// has to be confirmed.
Outcome<uint64_t> Dispatcher::size_for_read(const File& file, uint64_t end) {
  const bool known =
      kept_.is_pinned(file->inode) ? is_watched(file) : !is_kept_for_long(file->inode);
  if (known) {
    const std::lock_guard lock(file->mutex);
    if (end <= file->size) return file->size;
  }
  const auto attributes = getattr(file->inode);
  if (!attributes) return tl::unexpected(attributes.error());
  return attributes->size;
}

/// Of what is held for long, all that a node had, nobody may see old bytes once a change of another
/// node has returned, also who has it open.
bool Dispatcher::is_watched(const File& file) {
  {
    const std::lock_guard lock(file->mutex);
    if (lease_clock_ns() < file->watched_until) return true;
  }
  const int64_t until = watch({&file->inode, 1});
  const auto asked = getattr(file->inode);  // behind it, so that it holds as long
  const std::lock_guard lock(file->mutex);
  file->watched_until = asked ? until : 0;
  return asked.has_value();
}

Outcome<size_t> Dispatcher::read(Handle handle, uint64_t offset, std::span<std::byte> bytes) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  if (((*description)->flags & O_ACCMODE) == O_WRONLY) return tl::unexpected(EBADF);
  const File& file = (*description)->file;
  if (bytes.empty() || offset > kMostOffset) return 0;
  const auto size = size_for_read(file, offset + bytes.size());
  if (!size) return tl::unexpected(size.error());
  if (offset >= *size) return 0;
  const size_t wanted = std::min<uint64_t>(bytes.size(), *size - offset);
  for (size_t done = 0; done < wanted;) {
    const auto got =
        read_kept(**description, offset + done, bytes.first(wanted).subspan(done), *size);
    if (!got) return tl::unexpected(got.error());
    done += *got;
  }
  read_bytes_ += wanted;
  return wanted;
}

uint64_t Dispatcher::far_servers() const {
  uint64_t far = 0;
  for (uint32_t i = 0; i < std::min<size_t>(links_.size(), kMostServersWithCopies); ++i)
    if (!links_[i]->connected()) far |= server_bit(i);
  return far;
}

std::optional<std::vector<ServerPart>> Dispatcher::share_out(const File& file,
                                                             std::span<const Place> places,
                                                             uint64_t avoid) const {
  const uint64_t far = file->layout.copies > 1 ? far_servers() : 0;
  return parts_of(*file, links_.size(), places, far, avoid);
}

void Dispatcher::ask_for(const File& file, ServerPart& part, std::function<void(int)> then) {
  for (const auto& into : part.into) fetched_bytes_ += into.size();
  links_[part.server]->send(
      Outgoing(Kind::read, pack_read(part.message)),
      [file, &part, then = std::move(then)](int error, std::span<const std::byte> rest) {
        {
          // What was sent to it before this question may have failed, and is in the other copy.
          const std::lock_guard lock(file->mutex);
          if (error == 0 && is_stale(file->layout, part.server)) error = EIO;
        }
        then(take_answer(part, error, rest));
      });
}

/// What the servers have, with what is gathered here over it. The questions go out while the file
/// is locked, behind all that was sent before, so that nothing is seen twice or not at all. Where a
/// server does not answer, one with a copy is asked.
int Dispatcher::read_part(const File& file, uint64_t offset, std::span<std::byte> bytes,
                          bool& overlaid) {
  std::vector<Copied> over;
  std::vector<Place> places{{offset, bytes}};
  uint64_t failed = 0;
  for (int error = EIO; !places.empty();) {
    std::optional<Answers> answers;
    std::optional<std::vector<ServerPart>> parts;
    {
      const std::lock_guard lock(file->mutex);
      if (failed == 0) {
        if (file->pending.size() > kMostOverlaid) scatter_->issue(file);
        const auto patches = overlay(file->pending, offset, bytes.size());
        for (const Patch& patch : patches) {
          const auto from = file->memory.begin() + static_cast<ptrdiff_t>(patch.source);
          over.push_back({patch.at, {from, from + static_cast<ptrdiff_t>(patch.length)}});
        }
        overlaid = !patches.empty();
        if (covers(patches, bytes.size())) places.clear();
      }
      parts = share_out(file, places, failed);
      if (!parts) return error;
      answers.emplace(parts->size());
      for (ServerPart& part : *parts)
        ask_for(file, part, [&part, &answers](int wrong) {
          part.error = wrong;
          answers->come();
        });
    }
    answers->wait();
    places.clear();
    for (const ServerPart& part : *parts) {
      if (part.error == 0) continue;
      error = part.error;
      if (file->layout.copies == 1) return error;
      failed |= server_bit(part.server);
      for (size_t i = 0; i < part.into.size(); ++i)
        places.push_back({part.message.extents[i].offset, part.into[i]});
    }
  }
  for (const Copied& copied : over)
    std::ranges::copy(copied.bytes, bytes.begin() + static_cast<ptrdiff_t>(copied.at));
  return 0;
}

std::vector<int> Dispatcher::ask_each(Kind kind, const ObjectMessage& message,
                                      const Layout& layout) {
  const auto body = pack_object(message);
  std::vector<int> errors(links_.size());
  Answers answers(links_.size());
  for (uint32_t i = 0; i < links_.size(); ++i) {
    const bool names = i == 0 && kind == Kind::sync;  // are synced by the same request
    const bool lost = layout.copies > 1 && !names && links_[i]->given_up();
    if (lost) errors[i] = ETIMEDOUT;
    if (lost || (is_stale(layout, i) && !names)) {
      answers.come();
      continue;
    }
    links_[i]->send(Outgoing(kind, body), [&, i](int error, std::span<const std::byte>) {
      errors[i] = error;
      answers.come();
    });
  }
  answers.wait();
  return errors;
}

int Dispatcher::ask_all(Kind kind, const ObjectMessage& message, Layout layout, const File& file) {
  const auto errors = ask_each(kind, message, layout);
  bool marked = false;
  for (uint32_t i = 0; i < errors.size(); ++i) {
    const bool names = i == 0 && kind == Kind::sync;
    if (errors[i] == 0 || (is_stale(layout, i) && !names)) continue;
    if (names || !Scatter::can_go_on_without(layout, i, errors[i])) return errors[i];
    const auto lost = names_->ask({.op = NameOp::lose_copy, .inode = message.inode, .number = i});
    if (!lost) return lost.error();
    layout.stale |= lost->layout.stale;
    marked = true;
  }
  if (!marked) return 0;
  if (file) {
    const std::lock_guard lock(file->mutex);
    file->layout.stale |= layout.stale;
  }
  if (kind != Kind::sync) return 0;
  const auto synced = links_[0]->ask(Outgoing(kind, pack_object(message)));  // the mark too
  return synced ? 0 : synced.error();
}

Outcome<Attributes> Dispatcher::setattr(Inode inode, const Changes& changes) {
  const File file = find_file(inode);
  if (changes.size) return set_size(inode, file, changes);
  if (file) {  // so that a time that is set is not changed again by what was written before
    const std::lock_guard lock(file->mutex);
    scatter_->issue_all(file);
  }
  return ask_attributes({.op = NameOp::setattr, .inode = inode, .changes = changes});
}

int Dispatcher::cut(Inode inode, uint64_t size, const Layout& layout, const File& file) {
  const int error = ask_all(Kind::cut, {inode, size}, layout, file);
  kept_.drop(inode);
  return error;
}

Outcome<Attributes> Dispatcher::set_size(Inode inode, const File& file, const Changes& changes) {
  if (file) {
    std::unique_lock lock(file->mutex);
    scatter_->finish(file, lock);
  }
  const auto before = names_->ask({.op = NameOp::getattr, .inode = inode});
  if (!before) return tl::unexpected(before.error());
  // First the bytes: were the size first, those of the old end would be seen again in a new one.
  if (S_ISREG(before->attributes.mode) && *changes.size < before->attributes.size)
    if (const int error = cut(inode, *changes.size, before->layout, file); error != 0)
      return tl::unexpected(error);
  const auto reply = names_->ask({.op = NameOp::setattr, .inode = inode, .changes = changes});
  if (!reply) return tl::unexpected(reply.error());
  if (file) {
    const std::lock_guard lock(file->mutex);
    ++file->version;
    // What was written meanwhile stands behind the cut.
    const bool quiet = file->pending.empty() && file->flying.empty();
    file->size = quiet ? reply->attributes.size : std::max(file->size, reply->attributes.size);
  }
  kept_.drop(inode);
  return reply->attributes;
}

/// Makes the file as large as is asked. Room on the disks is not set aside: a full one is told of
/// at close, as without it.
Done Dispatcher::fallocate(Handle handle, int mode, uint64_t offset, uint64_t length) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  if (((*description)->flags & O_ACCMODE) == O_RDONLY) return tl::unexpected(EBADF);
  if ((mode & ~FALLOC_FL_KEEP_SIZE) != 0) return tl::unexpected(EOPNOTSUPP);
  if (length == 0) return tl::unexpected(EINVAL);
  if (offset > kMostOffset || length > kMostOffset - offset) return tl::unexpected(EFBIG);
  NodeFile& file = *(*description)->file;
  const auto size = size_for_read((*description)->file, offset + length);
  if (!size) return tl::unexpected(size.error());
  const std::lock_guard lock(file.mutex);
  if (mode & FALLOC_FL_KEEP_SIZE || file.size >= offset + length) return {};
  file.size = offset + length;
  file.grown = true;
  ++file.version;
  clock_gettime(CLOCK_REALTIME, &file.modified);
  return {};
}

/// All that is below the end counts as data.
Outcome<uint64_t> Dispatcher::seek(Handle handle, uint64_t offset, Part part) {
  const auto description = find(handle);
  if (!description) return tl::unexpected(description.error());
  const auto attributes = getattr((*description)->file->inode);
  if (!attributes) return tl::unexpected(attributes.error());
  if (offset >= attributes->size) return tl::unexpected(ENXIO);
  return part == Part::data ? offset : attributes->size;
}

}  // namespace haichi::gasfs
