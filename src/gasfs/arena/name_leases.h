// Which programs keep what stat(2) told of a path, and when that is not right any more.
//
// A path is right as long as no folder on its way and not the file itself changes. A program asks
// for a lease on all of their inodes first, and then the kernel, as ever, so that the kernel
// decides what that program may see. The lease ends before anything of this node changes one of
// them, and by itself before anything of another node may (NodeFiles::watch).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs::arena {

class Program;

/// Thread-safe.
class NameLeases final : public ChangeWatcher {
 public:
  void changing(std::span<const Inode> inodes) override;
  void changed(std::span<const Inode> inodes) override;
  /// The same for one.
  void changing(Inode inode) { changing({&inode, 1}); }
  void changed(Inode inode) { changed({&inode, 1}); }

  /// From now on changes of these end what the program keeps under this number, and what it kept
  /// there before is over. The lease, as Arena::names has it.
  uint32_t begin(const std::shared_ptr<Program>& program, uint16_t name,
                 const std::vector<Inode>& inodes);
  /// Whether it still lasts, and nothing is just being changed that ends it.
  bool lasts(const std::shared_ptr<Program>& program, uint16_t name, uint32_t lease);

 private:
  struct Lease {
    std::weak_ptr<Program> program;
    std::vector<Inode> inodes;
    uint32_t lease = 0;
    int64_t begun = 0;
  };
  using Key = std::pair<const Program*, uint16_t>;

  void end(std::map<Key, Lease>::iterator which);
  void forget_old(int64_t now);

  std::mutex mutex_;
  std::map<Key, Lease> leases_;
  std::unordered_map<Inode, std::set<Key>> by_inode_;
  std::unordered_map<Inode, int> changing_;
  int changing_any_ = 0;
  int64_t looked_ = 0;  // for old ones
};

}  // namespace haichi::gasfs::arena
