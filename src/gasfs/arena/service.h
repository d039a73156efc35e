// The dispatcher's side of the preload: lets programs write by rings in common memory, carries
// their records to the files (paper 002, section 2: the dispatcher gathers what the processes of a
// node write), and answers what they ask to read.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "gasfs/arena/counts.h"
#include "gasfs/files/beside.h"

namespace haichi::gasfs::arena {

/// Owns its threads: one talks to programs that come and go, one empties rings, the others answer
/// who reads. None does anything while nobody asks.
class Service : public Beside {
 public:
  /// Listens on the unix socket `socket`, which must not exist; whoever may reach it may ask for an
  /// arena, but writes only by a ticket. `files` must outlive it.
  static Result<std::unique_ptr<Service>> make(NodeFiles& files, const std::string& socket);
  /// Takes what is in the rings, and then nothing any more.
  ~Service() override;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  Counts counts() const;

  void settle() override;
  void opened(Inode inode) override;
  int attach(Inode inode, Handle handle, bool writes, std::span<char> reply) override;
  int tell_socket(std::span<char> reply) override;
  void changing(Inode inode) override;
  void changed(Inode inode) override;
  int take_error(Handle handle) override;
  void forget(Inode inode, Handle handle) override;
  void mapped(Inode inode) override;

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace haichi::gasfs::arena
