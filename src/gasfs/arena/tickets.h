// Which open files programs may read and write past the kernel.
#pragma once

#include <memory>
#include <unordered_map>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs::arena {

/// An open file description for which a program has asked by its descriptor.
struct Ticket {
  Inode inode = 0;
  Handle handle = 0;
  bool open = true;
  bool writes = false;  // a program has asked to write by it
  int error = 0;        // of what was written to it and failed; take_error tells of it once
};

/// Not thread-safe: the service's mutex guards it.
class Tickets {
 public:
  void opened(Inode inode) { ++files_[inode].open; }
  /// The number by which the handle is asked for, which nobody can guess.
  uint64_t number_of(Inode inode, Handle handle);
  /// From now on it may be written by; false if that was so before.
  bool let_write(uint64_t number);
  /// Null if there is no such ticket.
  std::shared_ptr<Ticket> find(uint64_t number) const;
  int take_error(Handle handle);
  /// True if it could be written by.
  bool forget(Inode inode, Handle handle);
  /// Until all who have it open now, or open it meanwhile, have closed it.
  void mark_mapped(Inode inode);
  bool is_mapped(Inode inode) const;

 private:
  struct File {
    int open = 0;
    bool mapped = false;
  };
  std::unordered_map<Inode, File> files_;
  std::unordered_map<uint64_t, std::shared_ptr<Ticket>> by_number_;
  std::unordered_map<Handle, uint64_t> by_handle_;
};

}  // namespace haichi::gasfs::arena
