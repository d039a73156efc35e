// What a node has read from the servers and keeps for whoever reads it next, so that each byte
// comes to a node once.
//
// Kept is what the servers had when they were asked, behind all that this node had sent them. What
// this node writes is dropped as it is gathered. What other nodes write shows by the time of the
// file's last change, which the server of names has; and what of it did not come to all copies, by
// the servers that are stale since. All that is kept of a file is dropped where these are others
// than before.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// Thread-safe.
class KeptBlocks {
 public:
  /// Of so many bytes, and at multiples of it, files are kept.
  static constexpr uint64_t kBlock = uint64_t{4} << 10;

  /// Bytes of a file that came together. Written by who fetches them, until they have arrived.
  struct Chunk {
    Inode inode = 0;
    uint64_t offset = 0;
    std::vector<std::byte> bytes;
    uint64_t end() const { return offset + bytes.size(); }

   private:
    friend class KeptBlocks;
    bool arrived = false;
    int error = 0;
    uint64_t blocks = 0;  // that are found by it
    std::list<std::shared_ptr<Chunk>>::iterator place;
  };
  using Held = std::shared_ptr<Chunk>;

  /// What the server of names says of a file, as far as it tells whether its bytes are the same.
  struct State {
    timespec changed = {};
    uint64_t stale = 0;  // of its servers, a bit each: Layout::stale
  };

  explicit KeptBlocks(uint64_t most) : most_(most) {}

  struct Found {
    Held chunk;
    uint64_t until = 0;     // its bytes from `offset` to here are right; others were written since
    bool to_fetch = false;  // the caller has to, and to call arrived()
  };
  /// The chunk that has the byte at `offset`, or one that begins at or before it, is as long as
  /// what is missing of the bytes up to `end` (at most `most` bytes), and has to be fetched. `size`
  /// is the file's.
  Found find(Inode inode, uint64_t offset, uint64_t end, uint64_t most, uint64_t size);
  /// The same, only where it has to be fetched; null where it is there.
  Held missing(Inode inode, uint64_t offset, uint64_t end, uint64_t most, uint64_t size);
  void arrived(const Held& chunk, int error);
  /// Waits until it has arrived: an errno value.
  int wait(const Held& chunk);

  /// These bytes are written here.
  void drop(Inode inode, uint64_t offset, uint64_t length);
  void drop(Inode inode);
  /// The server of names told of the file; it was asked at `asked_ms`.
  void opened(Inode inode, const State& state, int64_t asked_ms);
  void confirm(Inode inode, const State& state, int64_t asked_ms);
  /// When that was asked last; none where nothing is kept.
  std::optional<int64_t> confirmed_ms(Inode inode) const;
  /// Nobody of this node has it open; what is kept stays.
  void closed(Inode inode);
  /// Whether the byte is here, or on its way.
  bool has(Inode inode, uint64_t offset) const;
  uint64_t bytes() const;

 private:
  struct File {
    std::map<uint64_t, Held> blocks;  // by number
    std::optional<State> state;
    int64_t confirmed_ms = 0;
  };

  Held begin(File& file, Inode inode, uint64_t offset, uint64_t end, uint64_t size);
  void confirm(File& file, const State& state, int64_t asked_ms);
  void let_go(const Held& chunk);
  void forget(const Held& chunk);
  void drop_all(File& file);
  void make_room();

  const uint64_t most_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::unordered_map<Inode, File> files_;
  std::list<Held> chunks_;  // what was used last is last
  uint64_t bytes_ = 0;
};

}  // namespace haichi::gasfs
