// What two faces of the same files must know of one another, so that the processes of a node see
// one order of all that they do.
#pragma once

#include <sys/types.h>

#include <span>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// A face that reads and writes the same files beside the mount; called from the mount's threads.
class Beside {
 public:
  virtual ~Beside() = default;
  /// Before each request: what programs have written by the other face is written to the files.
  virtual void settle() = 0;
  /// A file was opened on the mount, once for each forget().
  virtual void opened(Inode inode) = 0;
  /// A program that has the file open asks by ioctl(2) what lets it read, or also write, by the
  /// other face. Fills `reply` (gasfs/arena/attach.h); an errno value if it can't.
  virtual int attach(Inode inode, Handle handle, bool writes, std::span<char> reply) = 0;
  /// The same for whoever wants no more than to reach the other face: without a ticket.
  virtual int tell_socket(std::span<char> reply) = 0;
  /// Around what changes bytes or size of a file: what programs have read by the other face and
  /// keep is not right any more. See Changing.
  virtual void changing(Inode inode) = 0;
  virtual void changed(Inode inode) = 0;
  /// The errno value with which something failed that was written to this handle by the other face
  /// and that the files know nothing of; told once, 0 if there is none.
  virtual int take_error(Handle handle) = 0;
  /// The handle is about to be released.
  virtual void forget(Inode inode, Handle handle) = 0;
  /// The kernel keeps pages of this file, because a program has mapped it: only what goes through
  /// the kernel is coherent with those, as long as the file is open.
  virtual void mapped(Inode inode) = 0;
};

/// The bytes or the size of a file change while this lives. `beside` may be null.
class Changing {
 public:
  Changing(Beside* beside, Inode inode) : beside_(beside), inode_(inode) {
    if (beside_) beside_->changing(inode_);
  }
  ~Changing() {
    if (beside_) beside_->changed(inode_);
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;

 private:
  Beside* beside_;
  Inode inode_;
};

}  // namespace haichi::gasfs
