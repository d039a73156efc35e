// Carries records out of the rings of all programs to the files, in the order in which they were
// written, and what programs ask to read out of the files into their arenas.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gasfs/arena/counts.h"
#include "gasfs/arena/leases.h"
#include "gasfs/arena/name_leases.h"
#include "gasfs/arena/program.h"
#include "gasfs/files/node_files.h"

namespace haichi::gasfs::arena {

/// Not thread-safe: `mutex` guards all.
class Gathering {
 public:
  Gathering(NodeFiles& files, Bell& bell) : files_(files), bell_(bell) {
    files.set_watcher(name_leases);
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// Something begins to change the file, or may do so from now on, as a ring.
  void changing(Inode inode);
  /// It is done.
  void changed(Inode inode);

  /// Writes all that was in the rings when it was called. False if there was nothing.
  bool drain();
  void add(std::shared_ptr<Program> program) { programs_.push_back(std::move(program)); }
  /// The process has ended, or has become another program: takes what it left.
  void remove(pid_t pid);
  size_t programs() const { return programs_.size(); }
  /// Gives the handle a number by which a program may read, and write if it `writes`.
  uint64_t give_ticket(Inode inode, Handle handle, bool writes);
  /// The handle is about to be released.
  void forget(Inode inode, Handle handle);
  /// Answers one question of a program, if there is one. Takes `mutex`, and holds it not while it
  /// reads.
  bool answer_one();
  void mark_mapped(Inode inode);
  /// No program's records are taken any more.
  void close();

  Tickets tickets;
  Leases leases;
  const std::shared_ptr<NameLeases> name_leases = std::make_shared<NameLeases>();
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

  /// A question, and of what.
  struct Asked {
    std::shared_ptr<Program> program;
    Question question;
    Inode inode = 0;
    Handle handle = 0;
    uint64_t begun = 0;            // Leases::read_begins
    std::vector<Inode> watched{};  // of Ask::watch
  };
  std::optional<Asked> next_asked();
  /// What a question is about; nothing if it has been answered: that the kernel is to be asked.
  std::optional<Asked> look_up(const std::shared_ptr<Program>& program, const Question& question);

  void answer_read(const Asked& asked);
  void answer_watch(const Asked& asked);

  NodeFiles& files_;
  Bell& bell_;
  std::vector<std::shared_ptr<Program>> programs_;
  std::vector<Front> fronts_;  // kept for its memory
  size_t next_program_ = 0;    // whose question comes next
};

}  // namespace haichi::gasfs::arena
