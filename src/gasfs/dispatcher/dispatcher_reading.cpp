// Reading, sizes, and what a file's attributes are while it is being written.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gasfs/dispatcher/dispatcher.h"

namespace haichi::gasfs {
namespace {

/// Bytes that are asked for at once.
constexpr uint64_t kMostRead = uint64_t{4} << 20;
/// With more requests gathered it is cheaper to send them than to look through them.
constexpr size_t kMostOverlaid = 256;

/// What one server has of a read, and where its bytes go.
struct ServerPart {
  ReadMessage message;
  std::vector<std::span<std::byte>> into;
};

std::vector<ServerPart> parts_of(const NodeFile& file, size_t servers, uint64_t offset,
                                 std::span<std::byte> bytes) {
  std::vector<ServerPart> parts(servers);
  while (!bytes.empty()) {
    ServerPart& part = parts[server_of(file.layout, offset)];
    const size_t length = std::min<uint64_t>(bytes.size(), left_in_stripe(file.layout, offset));
    auto& extents = part.message.extents;
    if (!extents.empty() && extents.back().offset + extents.back().length == offset) {
      extents.back().length += static_cast<uint32_t>(length);
      part.into.back() = {part.into.back().data(), part.into.back().size() + length};
    } else {
      extents.push_back({offset, static_cast<uint32_t>(length)});
      part.into.push_back(bytes.first(length));
    }
    part.message.inode = file.inode;
    offset += length;
    bytes = bytes.subspan(length);
  }
  return parts;
}

/// Answers that are waited for together.
class Answers {
 public:
  explicit Answers(size_t number) : left_(number) {}
  void come(int error) {
    const std::lock_guard lock(mutex_);
    if (error != 0) error_ = error;
    --left_;
    changed_.notify_all();
  }
  int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ == 0; });
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
  int error_ = 0;
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
  auto reply = names_->ask({.op = NameOp::getattr, .inode = inode});
  if (!reply) return tl::unexpected(reply.error());
  if (file) {
    const std::lock_guard lock(file->mutex);
    reconcile(*file, version, reply->attributes);
  }
  return reply->attributes;
}

/// Also asks the server of names, where a read would go beyond what is known here.
Outcome<uint64_t> Dispatcher::size_for_read(const File& file, uint64_t end) {
  {
    const std::lock_guard lock(file->mutex);
    if (end <= file->size) return file->size;
  }
  const auto attributes = getattr(file->inode);
  if (!attributes) return tl::unexpected(attributes.error());
  return attributes->size;
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
    const size_t part = std::min<uint64_t>(wanted - done, kMostRead);
    if (const int error = read_part(file, offset + done, bytes.subspan(done, part)); error != 0)
      return tl::unexpected(error);
    done += part;
  }
  return wanted;
}

/// What the servers have, with what is gathered here over it. The questions go out while the file
/// is locked, behind all that was sent before, so that nothing is seen twice or not at all.
int Dispatcher::read_part(const File& file, uint64_t offset, std::span<std::byte> bytes) {
  std::vector<Copied> over;
  std::optional<Answers> answers;
  std::vector<ServerPart> parts;
  {
    const std::lock_guard lock(file->mutex);
    if (file->pending.size() > kMostOverlaid) scatter_->issue(file);
    const auto patches = overlay(file->pending, offset, bytes.size());
    for (const Patch& patch : patches) {
      const auto from = file->memory.begin() + static_cast<ptrdiff_t>(patch.source);
      over.push_back({patch.at, {from, from + static_cast<ptrdiff_t>(patch.length)}});
    }
    if (!covers(patches, bytes.size())) parts = parts_of(*file, links_.size(), offset, bytes);
    std::erase_if(parts, [](const ServerPart& part) { return part.into.empty(); });
    answers.emplace(parts.size());
    for (ServerPart& part : parts) {
      Link& link = *links_[server_of(file->layout, part.message.extents[0].offset)];
      link.send(Outgoing(Kind::read, pack_read(part.message)),
                [&part, &answers](int error, std::span<const std::byte> rest) {
                  size_t sum = 0;
                  for (const auto& into : part.into) sum += into.size();
                  if (error == 0 && rest.size() != sum) error = EIO;
                  for (const auto& into : part.into) {
                    if (error != 0) break;
                    std::memcpy(into.data(), rest.data(), into.size());
                    rest = rest.subspan(into.size());
                  }
                  answers->come(error);
                });
    }
  }
  const int error = answers->wait();
  for (const Copied& copied : over)
    std::ranges::copy(copied.bytes, bytes.begin() + static_cast<ptrdiff_t>(copied.at));
  return error;
}

int Dispatcher::ask_all(Kind kind, const ObjectMessage& message) {
  const auto body = pack_object(message);
  Answers answers(links_.size());
  for (auto& link : links_)
    link->send(Outgoing(kind, body),
               [&](int error, std::span<const std::byte>) { answers.come(error); });
  return answers.wait();
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

Outcome<Attributes> Dispatcher::set_size(Inode inode, const File& file, const Changes& changes) {
  if (file) {
    std::unique_lock lock(file->mutex);
    scatter_->issue_all(file);
    Scatter::wait(file, lock);
  }
  const auto before = names_->ask({.op = NameOp::getattr, .inode = inode});
  if (!before) return tl::unexpected(before.error());
  // First the bytes: were the size first, those of the old end would be seen again in a new one.
  if (S_ISREG(before->attributes.mode) && *changes.size < before->attributes.size)
    if (const int error = ask_all(Kind::cut, {inode, *changes.size}); error != 0)
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
