// The files of a node in its memory and nowhere else: what the faces are tested on, and what shows
// whether a face costs time or what is behind it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// Keeps every promise of NodeFiles but that of lasting. One mutex for all.
class MemoryFiles : public NodeFiles {
 public:
  MemoryFiles();
  ~MemoryFiles() override;

  /// The next writes fail with `error` (an errno value) behind the caller's back, as a server's
  /// failure does: they succeed, and flush tells of it. 0: they work again.
  void fail_writes(int error);

  Outcome<Attributes> lookup(Inode folder, std::string_view name) override;
  Outcome<Attributes> getattr(Inode inode) override;
  Outcome<Attributes> setattr(Inode inode, const Changes& changes) override;
  Outcome<Opened> create(Inode folder, std::string_view name, const NewFile& file,
                         int flags) override;
  Outcome<Attributes> mkdir(Inode folder, std::string_view name, const NewFile& file) override;
  Outcome<Attributes> mknod(Inode folder, std::string_view name, const NewFile& file) override;
  Outcome<Attributes> symlink(Inode folder, std::string_view name, std::string_view target,
                              const NewFile& file) override;
  Outcome<std::string> readlink(Inode inode) override;
  Outcome<Attributes> link(Inode inode, Inode folder, std::string_view name) override;
  Done unlink(Inode folder, std::string_view name) override;
  Done rmdir(Inode folder, std::string_view name) override;
  Done rename(Inode from, std::string_view name, Inode to, std::string_view new_name,
              unsigned flags) override;
  Outcome<Opened> open(Inode inode, int flags) override;
  void release(Handle handle) override;
  Done flush(Handle handle) override;
  Done fsync(Handle handle, bool data_only) override;
  Outcome<size_t> write(Handle handle, uint64_t offset, std::span<const std::byte> bytes,
                        pid_t origin) override;
  Outcome<size_t> read(Handle handle, uint64_t offset, std::span<std::byte> bytes) override;
  Done fallocate(Handle handle, int mode, uint64_t offset, uint64_t length) override;
  Outcome<uint64_t> seek(Handle handle, uint64_t offset, Part part) override;
  Done readdir(Inode folder, uint64_t cursor,
               const std::function<bool(const Entry&)>& take) override;
  Outcome<Space> statfs() override;
  Outcome<std::string> getxattr(Inode inode, std::string_view name) override;
  Done setxattr(Inode inode, std::string_view name, std::string_view value, int flags) override;
  Outcome<std::vector<std::string>> listxattr(Inode inode) override;
  Done removexattr(Inode inode, std::string_view name) override;
  int64_t watch(std::span<const Inode> inodes) override;
  void set_watcher(std::shared_ptr<ChangeWatcher> watcher) override {
    watcher_ = std::move(watcher);
  }

 private:
  struct Node;
  struct Description;  // an open file description

  Node* find(Inode inode);
  Outcome<Node*> folder(Inode inode);
  Outcome<Node*> child(Inode inode, std::string_view name);
  Outcome<Node*> add(Inode inode, std::string_view name, const NewFile& file, mode_t type);
  bool has_below(const Node& node, Inode inode);
  void insert(Node& folder, std::string_view name, Node& node);
  void remove(Node& folder, std::string_view name);
  void drop_if_unused(Node& node);
  Opened open_node(Node& node, int flags);
  void resize(Node& node, uint64_t size);

  std::mutex mutex_;
  std::unordered_map<Inode, std::unique_ptr<Node>> nodes_;
  std::unordered_map<Handle, Description> open_;
  Inode next_inode_ = kRoot;
  Handle next_handle_ = 1;
  uint64_t next_cursor_ = kFirstCursor + 1;
  int write_error_ = 0;
  std::shared_ptr<ChangeWatcher> watcher_;
};

}  // namespace haichi::gasfs
