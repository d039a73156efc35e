// Names, links, attributes that users attach, and the state of the dispatcher.
#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "gasfs/dispatcher/dispatcher.h"
#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs {
namespace {

Done check_name(std::string_view name) {
  if (name.size() > kLongestName) return tl::unexpected(ENAMETOOLONG);
  return {};
}

}  // namespace

Outcome<Attributes> Dispatcher::ask_attributes(NameRequest request) {
  auto reply = names_->ask(std::move(request));
  if (!reply) return tl::unexpected(reply.error());
  Attributes& attributes = reply->attributes;
  if (const File file = find_file(attributes.inode); file && S_ISREG(attributes.mode)) {
    const std::lock_guard lock(file->mutex);
    add_gathered(*file, attributes);
  }
  return attributes;
}

Outcome<Attributes> Dispatcher::lookup(Inode folder, std::string_view name) {
  if (auto sound = check_name(name); !sound) return tl::unexpected(sound.error());
  return ask_attributes({.op = NameOp::lookup, .inode = folder, .name = std::string(name)});
}

Outcome<Attributes> Dispatcher::make(Inode folder, std::string_view name, const NewFile& file,
                                     std::string_view target) {
  if (auto sound = check_name(name); !sound) return tl::unexpected(sound.error());
  return ask_attributes({.op = NameOp::make,
                         .inode = folder,
                         .name = std::string(name),
                         .text = std::string(target),
                         .file = file});
}

Outcome<Attributes> Dispatcher::mkdir(Inode folder, std::string_view name, const NewFile& file) {
  NewFile made = file;
  made.mode = S_IFDIR | (file.mode & 07777);
  return make(folder, name, made);
}

Outcome<Attributes> Dispatcher::mknod(Inode folder, std::string_view name, const NewFile& file) {
  NewFile made = file;
  if ((made.mode & S_IFMT) == 0) made.mode |= S_IFREG;
  if (S_ISDIR(made.mode) || S_ISLNK(made.mode)) return tl::unexpected(EPERM);
  return make(folder, name, made);
}

Outcome<Attributes> Dispatcher::symlink(Inode folder, std::string_view name,
                                        std::string_view target, const NewFile& file) {
  if (target.empty()) return tl::unexpected(ENOENT);
  if (target.size() >= 4096) return tl::unexpected(ENAMETOOLONG);
  NewFile made = file;
  made.mode = S_IFLNK | 0777;
  return make(folder, name, made, target);
}

Outcome<std::string> Dispatcher::readlink(Inode inode) {
  auto reply = names_->ask({.op = NameOp::readlink, .inode = inode});
  if (!reply) return tl::unexpected(reply.error());
  return std::move(reply->text);
}

Outcome<Attributes> Dispatcher::link(Inode inode, Inode folder, std::string_view name) {
  if (auto sound = check_name(name); !sound) return tl::unexpected(sound.error());
  return ask_attributes(
      {.op = NameOp::link, .inode = folder, .other = inode, .name = std::string(name)});
}

Done Dispatcher::remove(NameRequest request) {
  if (auto sound = check_name(request.name); !sound) return sound;
  const auto reply = names_->ask(std::move(request));
  if (!reply) return tl::unexpected(reply.error());
  drop_objects(*reply);
  return {};
}

Done Dispatcher::unlink(Inode folder, std::string_view name) {
  return remove({.op = NameOp::unlink, .inode = folder, .name = std::string(name)});
}

Done Dispatcher::rmdir(Inode folder, std::string_view name) {
  return remove({.op = NameOp::rmdir, .inode = folder, .name = std::string(name)});
}

Done Dispatcher::rename(Inode from, std::string_view name, Inode to, std::string_view new_name,
                        unsigned flags) {
  if (auto sound = check_name(new_name); !sound) return sound;
  return remove({.op = NameOp::rename,
                 .inode = from,
                 .other = to,
                 .name = std::string(name),
                 .text = std::string(new_name),
                 .flags = flags});
}

Done Dispatcher::readdir(Inode folder, uint64_t cursor,
                         const std::function<bool(const Entry&)>& take) {
  for (;;) {
    const auto reply = names_->ask({.op = NameOp::readdir, .inode = folder, .number = cursor});
    if (!reply) return tl::unexpected(reply.error());
    if (reply->text.empty()) return {};
    std::string_view text = reply->text;
    Entry entry;
    while (unpack_entry(text, entry)) {
      if (!take(entry)) return {};
      cursor = entry.cursor;
    }
    if (!text.empty()) return tl::unexpected(EIO);
  }
}

/// The sum of all servers' that are not given up, of the files what the first one has room for.
Outcome<Space> Dispatcher::statfs() {
  Space sum;
  bool first = true;
  for (auto& link : links_) {
    if (!first && link->given_up()) continue;
    const auto answer = link->ask(Outgoing(Kind::space, size_t{0}));
    if (!answer) return tl::unexpected(answer.error());
    const auto space = unpack_space(*answer);
    if (!space) return tl::unexpected(EIO);
    if (first) sum.files = space->files, sum.free_files = space->free_files;
    first = false;
    const auto blocks = [&](uint64_t number) {
      return static_cast<uint64_t>(static_cast<unsigned __int128>(number) * space->block_size /
                                   sum.block_size);
    };
    sum.blocks += blocks(space->blocks);
    sum.free_blocks += blocks(space->free_blocks);
  }
  return sum;
}

Outcome<std::string> Dispatcher::getxattr(Inode inode, std::string_view name) {
  if (inode == kRoot && name == kStatusAttribute) return status();
  auto reply = names_->ask({.op = NameOp::getxattr, .inode = inode, .name = std::string(name)});
  if (!reply) return tl::unexpected(reply.error());
  return std::move(reply->text);
}

Done Dispatcher::setxattr(Inode inode, std::string_view name, std::string_view value, int flags) {
  const auto reply = names_->ask({.op = NameOp::setxattr,
                                  .inode = inode,
                                  .name = std::string(name),
                                  .text = std::string(value),
                                  .flags = static_cast<uint32_t>(flags)});
  return reply ? Done{} : tl::unexpected(reply.error());
}

Outcome<std::vector<std::string>> Dispatcher::listxattr(Inode inode) {
  const auto reply = names_->ask({.op = NameOp::listxattr, .inode = inode});
  if (!reply) return tl::unexpected(reply.error());
  std::vector<std::string> found;
  for (size_t begin = 0; begin < reply->text.size();) {
    found.emplace_back(reply->text.c_str() + begin);
    begin += found.back().size() + 1;
  }
  return found;
}

Done Dispatcher::removexattr(Inode inode, std::string_view name) {
  const auto reply =
      names_->ask({.op = NameOp::removexattr, .inode = inode, .name = std::string(name)});
  return reply ? Done{} : tl::unexpected(reply.error());
}

/// Counted from before the server was asked. It waits from when it grants, which is later.
int64_t Dispatcher::watch(std::span<const Inode> inodes) {
  const int64_t asked = lease_clock_ns();
  const auto reply = names_->ask({.op = NameOp::watch, .text = pack_inodes(inodes)});
  return reply && reply->number == 1 ? asked + kWatchNs - kWatchNs / 20 : 0;
}

std::string Dispatcher::status() const {
  const ScatterCounts& counts = scatter_->counts();
  nlohmann::json servers = nlohmann::json::array();
  for (const auto& link : links_)
    servers.push_back({{"address", to_text(link->address())},
                       {"connected", link->connected()},
                       {"restarts", link->restarts()}});
  size_t open = 0;
  uint64_t lost = 0;
  {
    const std::shared_lock lock(mutex_);
    open = files_.size();
    lost = lost_files_;
  }
  return nlohmann::json{{"schema", "haichi.gasfs-dispatcher-status/1"},
                        {"job", options_.job},
                        {"open_files", open},
                        {"lost_files", lost},
                        {"arranges", options_.arrange},
                        {"written_bytes", written_bytes_.load()},
                        {"waiting_bytes", budget_.used()},
                        {"requests_gathered", counts.requests_gathered.load()},
                        {"requests_sent", counts.requests_sent.load()},
                        {"read_bytes", read_bytes_.load()},
                        {"fetched_bytes", fetched_bytes_.load()},
                        {"ahead_bytes", ahead_bytes_.load()},
                        {"kept_bytes", kept_.bytes()},
                        {"pinned_bytes", kept_.pinned_bytes()},
                        {"pulled_bytes", pulled_bytes_.load()},
                        {"given_bytes", given_bytes_.load()},
                        {"frames_sent", counts.frames.load()},
                        {"bytes_sent", counts.bytes_sent.load()},
                        {"servers", servers}}
      .dump();
}

}  // namespace haichi::gasfs
