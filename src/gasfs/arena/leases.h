// Which programs keep bytes that they have read, and when those are not right any more.
//
// A program keeps what came with an answer in its arena and reads of it again without asking, as
// long as its lease lasts. A lease ends before anything changes the file, so that no program of
// the node sees the old bytes behind somebody who has seen the new ones. While a program may write
// the file by its ring, of which nobody hears until the ring is emptied, there are no leases.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs::arena {

class Program;

/// Not thread-safe: the service's mutex guards it.
class Leases {
 public:
  /// Something begins to change the file, or may do so from now on, as a ring: all leases on it
  /// end, and there are none until as many have ended.
  void changing(Inode inode);
  /// It is done.
  void changed(Inode inode);

  /// A read begins; the number goes to read_ended.
  uint64_t read_begins(Inode inode);
  /// Whether nothing can have changed since: the program has a lease for its slot then.
  bool read_ended(Inode inode, uint64_t begun, const std::shared_ptr<Program>& program,
                  uint16_t slot);

 private:
  struct Holder {
    std::weak_ptr<Program> program;
    uint16_t slot;
  };
  struct File {
    int changing = 0;
    int reading = 0;
    uint64_t changes = 0;
    std::vector<Holder> holders;
  };

  static void end_all(File& file);
  void forget_idle(Inode inode);

  std::unordered_map<Inode, File> files_;  // to which something happens, or has holders
};

}  // namespace haichi::gasfs::arena
