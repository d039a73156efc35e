// Where the bytes of a datatype lie, kept compact: a vector of 48,000 regions is a few numbers.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace haichi::mpiio {

class Pattern;
using PatternPtr = std::shared_ptr<const Pattern>;

/// A tree of strided blocks, with lists of blocks where there is no stride. Every byte of the data
/// has a *position* (0..size()-1, the order of the MPI typemap) and an *offset* (where it lies,
/// relative to the pattern's origin; may be negative). Immutable, shared freely between threads and
/// between parents.
///
/// The factories normalise: a contiguous vector becomes one block, equal blocks at equal distances
/// become a loop, nothing has size 0 inside.
class Pattern {
 public:
  struct Part {
    int64_t offset;      ///< of the child's origin
    int64_t data_begin;  ///< position of the child's first byte
    PatternPtr child;
  };
  struct Placed {
    int64_t offset;
    PatternPtr pattern;
  };
  struct Block {
    int64_t offset, size;
  };

  /// `size` contiguous bytes at offset 0; size 0 is the empty pattern.
  static PatternPtr block(int64_t size);
  /// `count` copies of `child`, the i-th at offset i * stride.
  static PatternPtr loop(PatternPtr child, int64_t count, int64_t stride);
  /// The patterns one after the other in data order.
  static PatternPtr sequence(std::vector<Placed> parts);
  /// The blocks one after the other in data order, as sequence() of them but without an object for
  /// each. Their sizes are not negative.
  static PatternPtr scattered(std::vector<Block> blocks);
  static PatternPtr shifted(PatternPtr child, int64_t offset);

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Smallest offset of a byte, and largest plus one.
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  /// True if offsets grow with positions and no byte lies twice: what a file view must be.
  bool sorted() const { return sorted_; }
  bool is_block() const { return kind_ == Kind::block; }
  /// Number of contiguous blocks that the tree spells out (saturates at INT64_MAX).
  int64_t blocks() const { return blocks_; }
  /// Bytes of memory that the tree takes, shared children counted once per parent.
  int64_t footprint() const { return footprint_; }

  /// How many bytes have an offset below `offset`. Only for sorted patterns; logarithmic.
  int64_t bytes_below(int64_t offset) const;

  /// Offset of position `from` if positions [from, to) lie in one block, else nothing.
  std::optional<int64_t> contiguous_at(int64_t from, int64_t to) const;

  /// Offsets [begin, end) in which the bytes of some positions repeat every `stride` bytes: where
  /// offset x and x + stride are both inside, both are bytes of it or none is. Stride 0: every
  /// offset inside is a byte of it.
  struct Repeat {
    int64_t stride;
    int64_t begin, end;
  };
  /// How positions [from, to) repeat: from the offset of the first to that behind the last. Nothing
  /// if the smallest part of the tree that holds them all is not a loop or a block. Only for sorted
  /// patterns; as many steps as the tree is deep.
  std::optional<Repeat> repeat(int64_t from, int64_t to) const;

  /// Positions [from, to) of a pattern as a pattern of their own, with the offsets that they had.
  /// What lies wholly inside is shared, not copied: the cost is that of the parts at the borders,
  /// and of the parts of sequences between them.
  static PatternPtr part(const PatternPtr& whole, int64_t from, int64_t to);

  /// Calls visit(offset, length) for the blocks of positions [from, to) in data order; `base` is
  /// added to the offsets. Adjacent blocks are not merged.
  template <class Visit>
  void for_each_block(int64_t from, int64_t to, int64_t base, Visit&& visit) const;

  /// Compact encoding, for other ranks of the same build. Shared children are written once.
  std::vector<std::byte> encode() const;
  static Result<PatternPtr> decode(std::span<const std::byte> data);

 private:
  enum class Kind : int64_t { block, loop, sequence, list };
  struct Key {};  // lets make_shared call a constructor that nobody else can

 public:
  explicit Pattern(Key) {}

 private:
  static PatternPtr make_sequence(std::vector<Placed> parts);
  /// Blocks at offsets without a rule; `ends` in data order, or empty if each block has `each`.
  static PatternPtr make_list(std::vector<int64_t> offsets, std::vector<int64_t> ends,
                              int64_t each);
  /// The same of blocks, which must not be empty.
  static PatternPtr list_of(std::span<const Block> blocks);
  static void add_blocks(std::span<const Block> blocks, std::vector<Placed>& parts);
  static std::vector<Placed> with_lists(std::vector<Placed> parts);
  static PatternPtr whole_of(std::vector<Placed> parts);
  /// Calls visit(i, begin, lo, hi) for the blocks of a list in which positions [from, to) are:
  /// block i begins at position `begin` and has [lo, hi) of them. There must be such positions.
  template <class Visit>
  void for_each_in_list(int64_t from, int64_t to, Visit&& visit) const;
  static PatternPtr part_of_list(const Pattern& whole, int64_t from, int64_t to);
  static PatternPtr part_of_loop(const Pattern& whole, int64_t from, int64_t to);
  /// The child that holds position `from` of a loop or a sequence, and where it begins.
  struct Child {
    const Pattern* pattern;
    int64_t data_begin, offset;
  };
  Child child_at(int64_t from) const;
  /// The first of the sequence's parts that ends behind position `from`.
  std::vector<Part>::const_iterator part_at(int64_t from) const;

  Kind kind_ = Kind::block;
  int64_t size_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t blocks_ = 1;
  int64_t footprint_ = 0;
  bool sorted_ = true;
  int64_t count_ = 0;             // loop
  int64_t stride_ = 0;            // loop
  PatternPtr child_;              // loop
  std::vector<Part> parts_;       // sequence
  std::vector<int64_t> offsets_;  // list
  std::vector<int64_t> ends_;     // list: positions; empty if all blocks have the same size
  int64_t each_ = 0;              // list: that size, else 0

  size_t index_at(int64_t position) const {
    if (each_ > 0) return size_t(position / each_);
    return size_t(std::upper_bound(ends_.begin(), ends_.end(), position) - ends_.begin());
  }
  int64_t end_of(size_t i) const { return each_ > 0 ? int64_t(i + 1) * each_ : ends_[i]; }
  int64_t begin_of(size_t i) const { return i > 0 ? end_of(i - 1) : 0; }
};

/// Collects blocks in data order and makes the compact pattern of them.
class PatternBuilder {
 public:
  void add(int64_t offset, int64_t size);
  PatternPtr build();

 private:
  std::vector<Pattern::Block> blocks_;
};

// The first and the last block may be cut, those between are whole: the loop over them is all that
// long lists cost.
template <class Visit>
void Pattern::for_each_in_list(int64_t from, int64_t to, Visit&& visit) const {
  size_t i = index_at(from);
  int64_t begin = begin_of(i), end = end_of(i);
  visit(i, begin, from, std::min(to, end));
  if (to <= end) return;
  const int64_t* const ends = ends_.data();
  if (each_ > 0) {
    for (begin = end, end += each_; end <= to; begin = end, end += each_)
      visit(++i, begin, begin, end);
  } else {
    const size_t n = ends_.size();
    for (begin = end; i + 1 < n && (end = ends[i + 1]) <= to; begin = end)
      visit(++i, begin, begin, end);
  }
  if (begin < to) visit(i + 1, begin, begin, to);
}

template <class Visit>
void Pattern::for_each_block(int64_t from, int64_t to, int64_t base, Visit&& visit) const {
  to = std::min(to, size_);
  if (from >= to) return;
  if (kind_ == Kind::block) {
    visit(base + from, to - from);
  } else if (kind_ == Kind::loop) {
    const int64_t each = child_->size_;
    int64_t i = from / each, position = i * each;
    if (child_->kind_ == Kind::block) {  // the common innermost case, without recursion
      for (; position < to; ++i, position += each) {
        const int64_t lo = std::max(from, position), hi = std::min(to, position + each);
        visit(base + i * stride_ + (lo - position), hi - lo);
      }
      return;
    }
    for (; position < to; ++i, position += each)
      child_->for_each_block(std::max<int64_t>(from - position, 0), to - position,
                             base + i * stride_, visit);
  } else if (kind_ == Kind::list) {
    for_each_in_list(from, to, [&](size_t i, int64_t begin, int64_t lo, int64_t hi) {
      visit(base + offsets_[i] + (lo - begin), hi - lo);
    });
  } else {
    for (auto at = part_at(from); at != parts_.end() && at->data_begin < to; ++at)
      at->child->for_each_block(std::max<int64_t>(from - at->data_begin, 0), to - at->data_begin,
                                base + at->offset, visit);
  }
}

}  // namespace haichi::mpiio
