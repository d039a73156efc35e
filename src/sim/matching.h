// Which receive takes which message: from rank a to rank b, the n-th send meets the n-th receive
// ("Schedules" in docs/notes.md).
//
// PURE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace haichi::sim {

/// What was posted or has arrived and still waits for its other side. 4096 ranks with a receive
/// from each other rank posted take 28 bytes for each of them; pairs of which nothing waits take
/// nothing.
class Matching {
 public:
  enum class Side : uint8_t { receive, message };
  struct Item {
    int64_t bytes;
    int32_t value;  ///< the caller's
  };

  explicit Matching(int ranks) : ranks_(ranks), tables_(size_t(ranks)) {}

  /// One more side of messages from `source` to `target`: returns the oldest waiting item of the
  /// other side, or nothing after having put this one to wait.
  std::optional<Item> offer(int target, int source, Side side, Item item);

  /// How many items wait.
  int64_t waiting() const { return waiting_; }
  /// A pair with one of them, {target, source}, and its side; the lowest target.
  struct Left {
    int target, source;
    Side side;
  };
  std::optional<Left> first_waiting() const;

 private:
  // Of one rank, by source: open addressing by the source's low bits. A table as large as the
  // number of ranks has no collisions.
  struct Pair {
    int32_t source = -1;  // -1: free
    uint32_t head : 31 = 0, side : 1 = 0;
    uint32_t tail = 0;
  };
  struct Table {
    std::vector<Pair> pairs;
    size_t used = 0;
  };
  struct Node {
    int64_t bytes;
    int32_t value;
    uint32_t next;
  };
  static constexpr uint32_t kChunk = 1 << 16;

  bool never_collides(const Table& table) const { return table.pairs.size() >= size_t(ranks_); }
  Pair& add(Table& table, int source);
  void remove(Table& table, Pair& pair);
  static Pair& slot(std::vector<Pair>& pairs, int source);
  Node& node(uint32_t at) { return chunks_[at / kChunk][at % kChunk]; }
  uint32_t new_node();

  int ranks_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  uint32_t nodes_ = 1;  // made so far; 0 means none
  uint32_t free_ = 0;
  int64_t waiting_ = 0;
};

}  // namespace haichi::sim
