// Which receive takes which message: from rank a to rank b, the n-th send meets the n-th receive
// ("Schedules" in docs/notes.md).
//
// PURE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace haichi::sim {

/// What was posted or has arrived and still waits for its other side. A single item of a pair that
/// is like others takes 4 bytes once most ranks have one for this rank, 16384 ranks with a receive
/// from each other rank posted 1.1 GB; pairs of which nothing waits take nothing.
class Matching {
 public:
  enum class Side : uint8_t { receive, message };
  struct Item {
    int64_t bytes;
    int32_t value;  ///< the caller's
    bool operator==(const Item&) const = default;
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
  // What waits of a pair: nothing; one item of a kind that is in kinds_, with its side; or the
  // number of a list, with the side of all that is in it.
  class Slot {
   public:
    static Slot one(uint32_t kind, Side side) { return Slot(kOne | kind << 1 | uint32_t(side)); }
    static Slot list(uint32_t at, Side side) { return Slot(at << 1 | uint32_t(side)); }
    Slot() = default;
    bool empty() const { return bits_ == 0; }
    bool is_one() const { return (bits_ & kOne) != 0; }
    Side side() const { return Side(bits_ & 1); }
    uint32_t number() const { return (bits_ & ~kOne) >> 1; }

   private:
    static constexpr uint32_t kOne = 1u << 31;
    explicit Slot(uint32_t bits) : bits_(bits) {}
    uint32_t bits_ = 0;  // lists are counted from 1
  };
  // Of one rank, by source: open addressing by the source's low bits. A table as large as the
  // number of ranks has no collisions, and needs no sources.
  struct Table {
    std::vector<Slot> slots;
    std::vector<int32_t> sources;  // of the slots that are not empty
    size_t used = 0;
  };
  struct Node {
    int64_t bytes;
    int32_t value;
    uint32_t next;
    uint32_t last;  // of the first one of a list
  };
  struct Hash {
    size_t operator()(const Item& item) const {
      return std::hash<int64_t>()(item.bytes * 0x9e3779b97f4a7c15 + item.value);
    }
  };
  static constexpr uint32_t kChunk = 1 << 16;
  static constexpr size_t kMostKinds = 1 << 16;

  bool is_full_size(const Table& table) const { return table.slots.size() >= size_t(ranks_); }
  size_t place_of(const Table& table, int source) const;
  size_t add(Table& table, int source);
  void grow(Table& table);
  void remove(Table& table, size_t at);
  std::optional<uint32_t> kind_of(const Item& item);
  Item take_from(Slot& slot);
  void put_into(Slot& slot, Side side, const Item& item);
  Node& node(uint32_t at) { return chunks_[at / kChunk][at % kChunk]; }
  uint32_t new_node(const Item& item);
  void free_node(uint32_t at);

  int ranks_;
  std::vector<Table> tables_;
  std::vector<Item> kinds_;  // that items which wait alone have had
  std::unordered_map<Item, uint32_t, Hash> kind_numbers_;
  Item last_item_{-1, 0};
  uint32_t last_kind_ = 0;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  uint32_t nodes_ = 1;  // made so far; 0 means none
  uint32_t free_ = 0;
  int64_t waiting_ = 0;
};

}  // namespace haichi::sim
