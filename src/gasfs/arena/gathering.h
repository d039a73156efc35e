// Carries records out of the rings of all programs to the files, in the order in which they were
// written.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "gasfs/arena/counts.h"
#include "gasfs/arena/program.h"
#include "gasfs/files/node_files.h"

namespace haichi::gasfs::arena {

/// Not thread-safe: `mutex` guards all.
class Gathering {
 public:
  Gathering(NodeFiles& files, Bell& bell) : files_(files), bell_(bell) {}

  /// Writes all that was in the rings when it was called. False if there was nothing.
  bool drain();
  void add(std::unique_ptr<Program> program) { programs_.push_back(std::move(program)); }
  /// The process has ended, or has become another program: takes what it left.
  void remove(pid_t pid);
  size_t programs() const { return programs_.size(); }
  void mark_mapped(Inode inode);
  /// No program's records are taken any more.
  void close();

  Tickets tickets;
  Counts counts;
  std::mutex mutex;

 private:
  /// The next record of a ring.
  struct Front {
    Program* program;
    RingReader* ring;
    Record record;
  };
  void find_fronts(uint64_t last);
  /// What is not later than `last`; false if there is nothing.
  bool next(Front& front, uint64_t last);
  void cut_off(Program& program);
  void carry_out(Front& front);
  void write(Front& front);

  NodeFiles& files_;
  Bell& bell_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<Front> fronts_;  // kept for its memory
};

}  // namespace haichi::gasfs::arena
