#include "gasfs/files/memory_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>

#include "gasfs/files/lease_clock.h"

namespace haichi::gasfs {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int64_t kWatchedNs = 50'000'000;  // there are no other nodes
constexpr uint64_t kLargestFile = uint64_t(INT64_MAX);
constexpr size_t kLongestTarget = 4095;
using Page = std::array<std::byte, kPage>;

tl::unexpected<int> error(int code) { return tl::unexpected<int>(code); }

timespec now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

Done check_name(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
    return error(EINVAL);
  }
  if (name.size() > kLongestName) return error(ENAMETOOLONG);
  return {};
}

}  // namespace

struct MemoryFiles::Node {
  struct Child {
    Node* node;
    uint64_t cursor;
  };

  Attributes attributes;
  std::map<uint64_t, std::unique_ptr<Page>> pages;  // by number; what has none is a hole
  std::string target;                               // of a symbolic link
  std::map<std::string, Child, std::less<>> children;
  std::map<uint64_t, std::string> by_cursor;  // the names of children
  std::map<std::string, std::string, std::less<>> xattrs;
  Node* parent = nullptr;  // of a folder
  int open = 0;
  int error = 0;  // the last one, and how many there were
  uint64_t errors = 0;

  bool is_folder() const { return S_ISDIR(attributes.mode); }
};

struct MemoryFiles::Description {
  Node* node;
  int flags;
  uint64_t errors_told;
};

MemoryFiles::MemoryFiles() {
  auto root = std::make_unique<Node>();
  root->attributes = {.inode = kRoot, .mode = S_IFDIR | 0755, .links = 2};
  root->attributes.accessed = root->attributes.modified = root->attributes.changed = now();
  root->parent = root.get();
  nodes_[next_inode_++] = std::move(root);
}

MemoryFiles::~MemoryFiles() = default;

void MemoryFiles::fail_writes(int code) {
  const std::lock_guard lock(mutex_);
  write_error_ = code;
}

MemoryFiles::Node* MemoryFiles::find(Inode inode) {
  const auto found = nodes_.find(inode);
  return found == nodes_.end() ? nullptr : found->second.get();
}

Outcome<MemoryFiles::Node*> MemoryFiles::folder(Inode inode) {
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  if (!node->is_folder()) return error(ENOTDIR);
  return node;
}

Outcome<MemoryFiles::Node*> MemoryFiles::child(Inode inode, std::string_view name) {
  const auto parent = folder(inode);
  if (!parent) return parent;
  if (const auto good = check_name(name); !good) return error(good.error());
  const auto found = (*parent)->children.find(name);
  if (found == (*parent)->children.end()) return error(ENOENT);
  return found->second.node;
}

void MemoryFiles::insert(Node& folder, std::string_view name, Node& node) {
  const uint64_t cursor = next_cursor_++;
  folder.children.emplace(name, Node::Child{&node, cursor});
  folder.by_cursor.emplace(cursor, name);
  folder.attributes.modified = folder.attributes.changed = now();
  if (node.is_folder()) {
    ++folder.attributes.links;
    node.parent = &folder;
  }
}

void MemoryFiles::remove(Node& folder, std::string_view name) {
  const auto found = folder.children.find(name);
  if (found->second.node->is_folder()) --folder.attributes.links;
  folder.by_cursor.erase(found->second.cursor);
  folder.children.erase(found);
  folder.attributes.modified = folder.attributes.changed = now();
}

void MemoryFiles::drop_if_unused(Node& node) {
  if (node.attributes.links == 0 && node.open == 0) nodes_.erase(node.attributes.inode);
}

Outcome<MemoryFiles::Node*> MemoryFiles::add(Inode inode, std::string_view name,
                                             const NewFile& file, mode_t type) {
  const auto found = child(inode, name);
  if (found) return error(EEXIST);
  if (found.error() != ENOENT) return found;
  Node& parent = *find(inode);
  if (parent.attributes.links == 0) return error(ENOENT);  // a folder that was removed

  auto node = std::make_unique<Node>();
  Attributes& made = node->attributes;
  made.inode = next_inode_++;
  made.mode = type | (file.mode & 07777);
  made.links = type == S_IFDIR ? 2 : 1;
  made.uid = file.uid;
  made.gid = file.gid;
  if (parent.attributes.mode & S_ISGID) {
    made.gid = parent.attributes.gid;
    if (type == S_IFDIR) made.mode |= S_ISGID;
  }
  made.device = file.device;
  made.accessed = made.modified = made.changed = now();
  Node* const result = node.get();
  nodes_[made.inode] = std::move(node);
  insert(parent, name, *result);
  return result;
}

Outcome<Attributes> MemoryFiles::lookup(Inode folder, std::string_view name) {
  const std::lock_guard lock(mutex_);
  return child(folder, name).map([](Node* node) { return node->attributes; });
}

Outcome<Attributes> MemoryFiles::getattr(Inode inode) {
  const std::lock_guard lock(mutex_);
  const Node* const node = find(inode);
  if (!node) return error(ESTALE);
  return node->attributes;
}

void MemoryFiles::resize(Node& node, uint64_t size) {
  if (size < node.attributes.size) {
    node.pages.erase(node.pages.lower_bound((size + kPage - 1) / kPage), node.pages.end());
    if (const auto last = node.pages.find(size / kPage); last != node.pages.end()) {
      std::fill(last->second->begin() + int64_t(size % kPage), last->second->end(), std::byte{0});
    }
  }
  node.attributes.size = size;
  node.attributes.blocks = node.pages.size() * (kPage / 512);
}

Outcome<Attributes> MemoryFiles::setattr(Inode inode, const Changes& changes) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {inode});
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  Attributes& is = node->attributes;
  const timespec time = now();
  if (changes.size) {
    if (node->is_folder()) return error(EISDIR);
    if (!S_ISREG(is.mode)) return error(EINVAL);
    if (*changes.size > kLargestFile) return error(EFBIG);
    resize(*node, *changes.size);
    is.modified = time;
  }
  if (changes.mode) is.mode = (is.mode & S_IFMT) | (*changes.mode & 07777);
  if (changes.uid) is.uid = *changes.uid;
  if (changes.gid) is.gid = *changes.gid;
  const auto as_given = [&](const timespec& given) {
    return given.tv_nsec == UTIME_NOW ? time : given;
  };
  if (changes.accessed) is.accessed = as_given(*changes.accessed);
  if (changes.modified) is.modified = as_given(*changes.modified);
  is.changed = time;
  return is;
}

Opened MemoryFiles::open_node(Node& node, int flags) {
  ++node.open;
  const Handle handle = next_handle_++;
  open_[handle] = {&node, flags, node.errors};
  return {node.attributes, handle};
}

Outcome<Opened> MemoryFiles::create(Inode folder, std::string_view name, const NewFile& file,
                                    int flags) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  return add(folder, name, file, S_IFREG).map([&](Node* node) { return open_node(*node, flags); });
}

Outcome<Attributes> MemoryFiles::mkdir(Inode folder, std::string_view name, const NewFile& file) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  return add(folder, name, file, S_IFDIR).map([](Node* node) { return node->attributes; });
}

Outcome<Attributes> MemoryFiles::mknod(Inode folder, std::string_view name, const NewFile& file) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  const mode_t type = file.mode & S_IFMT ? file.mode & S_IFMT : S_IFREG;
  if (type == S_IFDIR || type == S_IFLNK) return error(EINVAL);
  return add(folder, name, file, type).map([](Node* node) { return node->attributes; });
}

Outcome<Attributes> MemoryFiles::symlink(Inode folder, std::string_view name,
                                         std::string_view target, const NewFile& file) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  if (target.empty()) return error(ENOENT);
  if (target.size() > kLongestTarget) return error(ENAMETOOLONG);
  return add(folder, name, file, S_IFLNK).map([&](Node* node) {
    node->target = target;
    node->attributes.size = target.size();
    return node->attributes;
  });
}

Outcome<std::string> MemoryFiles::readlink(Inode inode) {
  const std::lock_guard lock(mutex_);
  const Node* const node = find(inode);
  if (!node) return error(ESTALE);
  if (!S_ISLNK(node->attributes.mode)) return error(EINVAL);
  return node->target;
}

Outcome<Attributes> MemoryFiles::link(Inode inode, Inode folder, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  if (node->is_folder()) return error(EPERM);
  const auto found = child(folder, name);
  if (found) return error(EEXIST);
  if (found.error() != ENOENT) return error(found.error());
  Node& parent = *find(folder);
  if (parent.attributes.links == 0 || node->attributes.links == 0) return error(ENOENT);
  ++node->attributes.links;
  node->attributes.changed = now();
  insert(parent, name, *node);
  return node->attributes;
}

Done MemoryFiles::unlink(Inode folder, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  const auto found = child(folder, name);
  if (!found) return error(found.error());
  Node& node = **found;
  if (node.is_folder()) return error(EISDIR);
  remove(*find(folder), name);
  --node.attributes.links;
  node.attributes.changed = now();
  drop_if_unused(node);
  return {};
}

Done MemoryFiles::rmdir(Inode folder, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  const auto found = child(folder, name);
  if (!found) return error(found.error());
  Node& node = **found;
  if (!node.is_folder()) return error(ENOTDIR);
  if (!node.children.empty()) return error(ENOTEMPTY);
  remove(*find(folder), name);
  node.attributes.links = 0;
  drop_if_unused(node);
  return {};
}

bool MemoryFiles::has_below(const Node& node, Inode inode) {
  for (const Node* up = find(inode);; up = up->parent) {
    if (up == &node) return true;
    if (up->parent == up) return false;
  }
}

Done MemoryFiles::rename(Inode from, std::string_view name, Inode to, std::string_view new_name,
                         unsigned flags) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {});
  if (flags != 0 && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE) return error(EINVAL);
  const auto found = child(from, name);
  if (!found) return error(found.error());
  const auto target = child(to, new_name);
  if (!target && target.error() != ENOENT) return error(target.error());
  Node& node = **found;
  Node& old_folder = *find(from);
  Node& new_folder = *find(to);
  if (new_folder.attributes.links == 0) return error(ENOENT);
  if (node.is_folder() && has_below(node, to)) return error(EINVAL);
  const timespec time = now();
  if (flags == RENAME_EXCHANGE) {
    if (!target) return error(ENOENT);
    Node& other = **target;
    if (other.is_folder() && has_below(other, from)) return error(EINVAL);
    if (&node == &other) return {};
    remove(old_folder, name);
    remove(new_folder, new_name);
    insert(new_folder, new_name, node);
    insert(old_folder, name, other);
    node.attributes.changed = other.attributes.changed = time;
    return {};
  }
  if (target) {
    Node& other = **target;
    if (flags == RENAME_NOREPLACE) return error(EEXIST);
    if (&node == &other) return {};
    if (other.is_folder() && !node.is_folder()) return error(EISDIR);
    if (!other.is_folder() && node.is_folder()) return error(ENOTDIR);
    if (!other.children.empty()) return error(ENOTEMPTY);
    remove(new_folder, new_name);
    other.attributes.links -= other.is_folder() ? 2 : 1;
    other.attributes.changed = time;
    drop_if_unused(other);
  }
  remove(old_folder, name);
  insert(new_folder, new_name, node);
  node.attributes.changed = time;
  return {};
}

Outcome<Opened> MemoryFiles::open(Inode inode, int flags) {
  const std::lock_guard lock(mutex_);
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  if (node->is_folder()) return error(EISDIR);
  if (!S_ISREG(node->attributes.mode)) return error(EINVAL);
  if (flags & O_TRUNC) {
    resize(*node, 0);
    node->attributes.modified = node->attributes.changed = now();
  }
  return open_node(*node, flags);
}

void MemoryFiles::release(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return;
  Node& node = *found->second.node;
  open_.erase(found);
  --node.open;
  drop_if_unused(node);
}

Done MemoryFiles::flush(Handle handle) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return error(EBADF);
  Description& is = found->second;
  if (is.errors_told == is.node->errors) return {};
  is.errors_told = is.node->errors;
  return error(is.node->error);
}

Done MemoryFiles::fsync(Handle handle, bool) { return flush(handle); }

Outcome<size_t> MemoryFiles::write(Handle handle, uint64_t offset, std::span<const std::byte> bytes,
                                   pid_t) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return error(EBADF);
  const Description& is = found->second;
  Node& node = *is.node;
  if ((is.flags & O_ACCMODE) == O_RDONLY) return error(EBADF);
  if (is.errors_told != node.errors) return error(node.error);
  if (is.flags & O_APPEND) offset = node.attributes.size;
  if (offset > kLargestFile || bytes.size() > kLargestFile - offset) return error(EFBIG);
  if (write_error_ != 0) {
    node.error = write_error_;
    ++node.errors;
    return bytes.size();
  }
  for (size_t done = 0; done < bytes.size();) {
    const uint64_t at = offset + done;
    const size_t here = std::min<size_t>(bytes.size() - done, kPage - at % kPage);
    auto& page = node.pages[at / kPage];
    if (!page) page = std::make_unique<Page>();
    memcpy(page->data() + at % kPage, bytes.data() + done, here);
    done += here;
  }
  if (!bytes.empty()) {
    node.attributes.size = std::max(node.attributes.size, offset + bytes.size());
    node.attributes.blocks = node.pages.size() * (kPage / 512);
    node.attributes.modified = node.attributes.changed = now();
  }
  return bytes.size();
}

Outcome<size_t> MemoryFiles::read(Handle handle, uint64_t offset, std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return error(EBADF);
  if ((found->second.flags & O_ACCMODE) == O_WRONLY) return error(EBADF);
  Node& node = *found->second.node;
  if (offset >= node.attributes.size) return size_t{0};
  const size_t size = std::min<uint64_t>(bytes.size(), node.attributes.size - offset);
  for (size_t done = 0; done < size;) {
    const uint64_t at = offset + done;
    const size_t here = std::min<size_t>(size - done, kPage - at % kPage);
    const auto page = node.pages.find(at / kPage);
    if (page == node.pages.end()) {
      memset(bytes.data() + done, 0, here);
    } else {
      memcpy(bytes.data() + done, page->second->data() + at % kPage, here);
    }
    done += here;
  }
  const Telling telling(watcher_, {node.attributes.inode});
  node.attributes.accessed = now();
  return size;
}

Done MemoryFiles::fallocate(Handle handle, int mode, uint64_t offset, uint64_t length) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return error(EBADF);
  if ((found->second.flags & O_ACCMODE) == O_RDONLY) return error(EBADF);
  if (mode & ~FALLOC_FL_KEEP_SIZE) return error(EOPNOTSUPP);
  if (offset > kLargestFile || length > kLargestFile - offset) return error(EFBIG);
  Node& node = *found->second.node;
  if (mode == 0 && offset + length > node.attributes.size) {
    resize(node, offset + length);
    node.attributes.modified = node.attributes.changed = now();
  }
  return {};
}

Outcome<uint64_t> MemoryFiles::seek(Handle handle, uint64_t offset, Part part) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(handle);
  if (found == open_.end()) return error(EBADF);
  const Node& node = *found->second.node;
  const uint64_t size = node.attributes.size;
  if (offset >= size) return error(ENXIO);
  auto page = node.pages.lower_bound(offset / kPage);
  if (part == Part::data) {
    const uint64_t data = page == node.pages.end() ? size : page->first * kPage;
    return data >= size ? Outcome<uint64_t>(error(ENXIO)) : std::max(data, offset);
  }
  uint64_t number = offset / kPage;
  for (; page != node.pages.end() && page->first == number; ++page) ++number;
  return std::min(size, std::max(offset, number * kPage));
}

Done MemoryFiles::readdir(Inode inode, uint64_t cursor,
                          const std::function<bool(const Entry&)>& take) {
  const std::lock_guard lock(mutex_);
  const auto found = folder(inode);
  if (!found) return error(found.error());
  Node& node = **found;
  for (auto at = node.by_cursor.upper_bound(cursor); at != node.by_cursor.end(); ++at) {
    const Attributes& entry = node.children.find(at->second)->second.node->attributes;
    if (!take({at->second, entry.inode, entry.mode & S_IFMT, at->first})) break;
  }
  return {};
}

Outcome<Space> MemoryFiles::statfs() {
  const std::lock_guard lock(mutex_);
  Space space;
  space.blocks = space.free_blocks = uint64_t{1} << 20;
  space.free_files = uint64_t{1} << 20;
  space.files = space.free_files + nodes_.size();
  return space;
}

Outcome<std::string> MemoryFiles::getxattr(Inode inode, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Node* const node = find(inode);
  if (!node) return error(ESTALE);
  const auto found = node->xattrs.find(name);
  if (found == node->xattrs.end()) return error(ENODATA);
  return found->second;
}

Done MemoryFiles::setxattr(Inode inode, std::string_view name, std::string_view value, int flags) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {inode});
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  const bool is_there = node->xattrs.contains(name);
  if (is_there && flags == XATTR_CREATE) return error(EEXIST);
  if (!is_there && flags == XATTR_REPLACE) return error(ENODATA);
  node->xattrs[std::string(name)] = value;
  node->attributes.changed = now();
  return {};
}

Outcome<std::vector<std::string>> MemoryFiles::listxattr(Inode inode) {
  const std::lock_guard lock(mutex_);
  const Node* const node = find(inode);
  if (!node) return error(ESTALE);
  std::vector<std::string> names;
  for (const auto& [name, value] : node->xattrs) names.push_back(name);
  return names;
}

Done MemoryFiles::removexattr(Inode inode, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Telling telling(watcher_, {inode});
  Node* const node = find(inode);
  if (!node) return error(ESTALE);
  const auto found = node->xattrs.find(name);
  if (found == node->xattrs.end()) return error(ENODATA);
  node->xattrs.erase(found);
  node->attributes.changed = now();
  return {};
}

int64_t MemoryFiles::watch(std::span<const Inode>) { return lease_clock_ns() + kWatchedNs; }

}  // namespace haichi::gasfs
