// What a node has read from the servers and keeps for whoever reads it next, so that each byte
// comes to a node once.
//
// Kept is what the servers had when they were asked, behind all that this node had sent them. What
// this node writes is dropped as it is gathered. What other nodes write shows by the time of the
// file's last change, which the server of names has; and what of it did not come to all copies, by
// the servers that are stale since. All that is kept of a file is dropped where these are others
// than before.
//
// A file can be pinned (`haichi gasfs broadcast`): all that is kept of it stays, within a bound of
// its own, until it is dropped for one of these reasons; what is written here ends that too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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
    bool pinned = false;
    uint64_t blocks = 0;  // that are found by it
    std::list<std::shared_ptr<Chunk>>::iterator place;
  };
  using Held = std::shared_ptr<Chunk>;

  /// What the server of names says of a file, as far as it tells whether its bytes are the same.
  struct State {
    timespec changed = {};
    uint64_t stale = 0;  // of its servers, a bit each: Layout::stale
  };

  /// `most_pinned`: bytes of files that are pinned.
  explicit KeptBlocks(uint64_t most, uint64_t most_pinned = 0)
      : most_(most), most_pinned_(most_pinned) {}

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
  /// Without what is pinned.
  uint64_t bytes() const;

  /// Pins a file of this state and size, of which nothing is kept then. EEXIST: it is pinned;
  /// ESTALE: the server of names told of another state; ENOSPC: there is no room for it.
  int pin(Inode inode, const State& state, uint64_t size);
  /// `missing`, of a file that is pinned: none where it is not any more.
  std::optional<Held> missing_of_pinned(Inode inode, uint64_t offset, uint64_t end, uint64_t most,
                                        uint64_t size);
  /// All of it has come; false where it is not pinned any more.
  bool pinned_whole(Inode inode);
  /// What is kept of it may go when the room is needed.
  void unpin(Inode inode);
  bool is_pinned(Inode inode) const;
  std::vector<Inode> pinned() const;
  uint64_t pinned_bytes() const;
  /// Bytes of a file that is pinned in this state. Waits for those that are still to come: EAGAIN
  /// where they take longer than `wait_ms`. ENOENT: it is not pinned; ESTALE: in another state.
  int copy_pinned(Inode inode, const State& state, uint64_t offset, std::span<std::byte> into,
                  int wait_ms);

 private:
  struct File {
    std::map<uint64_t, Held> blocks;  // by number
    std::optional<State> state;
    int64_t confirmed_ms = 0;
    bool pinned = false;
    bool coming = false;    // it is pinned, and not all of it has come
    uint64_t reserved = 0;  // bytes of it, while it is pinned
  };
  using Chunks = std::list<Held>;

  Chunks& list_of(const Chunk& chunk) { return chunk.pinned ? pinned_chunks_ : chunks_; }
  uint64_t& bytes_of(const Chunk& chunk) { return chunk.pinned ? pinned_bytes_ : bytes_; }
  void end_pin(File& file);
  Held begin(File& file, Inode inode, uint64_t offset, uint64_t end, uint64_t size);
  void confirm(File& file, const State& state, int64_t asked_ms);
  void let_go(const Held& chunk);
  void forget(const Held& chunk);
  void drop_all(File& file);
  void make_room();

  const uint64_t most_;
  const uint64_t most_pinned_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::unordered_map<Inode, File> files_;
  Chunks chunks_;  // what was used last is last
  Chunks pinned_chunks_;
  uint64_t bytes_ = 0;
  uint64_t pinned_bytes_ = 0;
  uint64_t reserved_ = 0;  // for what is pinned
};

}  // namespace haichi::gasfs
