// One rank's side of a collective access: which bytes of the file, described compactly.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpiio/regions/pattern.h"
#include "mpiio/regions/pattern_pool.h"
#include "plan/file_domains.h"

namespace haichi::mpiio {

/// A file view (MPI 4.1, section 14.3): the filetype's pattern repeated every `extent` bytes from
/// byte `displacement` of the file on. Data positions count the view's bytes from 0.
struct View {
  int64_t displacement = 0;
  PatternPtr tile = Pattern::block(1);
  int64_t extent = 1;

  /// True if data positions [begin, end) lie in ascending order without overlap. The tiles of a
  /// view may run into each other where only one of them is used: HDF5 has such views of chunks.
  bool sorted(int64_t begin, int64_t end) const;
};

/// Positions [begin, end) of a pattern that lies at `origin` in the file. Position p of the access
/// is position p - first of the pattern.
class Access {
 public:
  Access() = default;
  /// Positions [begin, begin + size) of a view.
  Access(const View& view, int64_t begin, int64_t size);

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  bool empty() const { return begin_ >= end_; }
  /// Smallest extent of the file with all bytes of the access.
  plan::Extent hull() const;
  /// Position of the first byte at or behind a file offset, within [begin(), end()].
  int64_t position_of(int64_t offset) const;
  /// Forgets all positions whose offset is `end_of_file` or more (a read across the end).
  void clip(int64_t end_of_file);

  /// visit(file_offset, length) for positions [from, to), ascending.
  template <class Visit>
  void for_each_block(int64_t from, int64_t to, Visit&& visit) const {
    pattern_->for_each_block(std::max(from, begin_) - first_, std::min(to, end_) - first_, origin_,
                             visit);
  }

  /// File offset of position `from` if [from, to) is one block of the file, else nothing.
  std::optional<int64_t> contiguous_at(int64_t from, int64_t to) const {
    const auto at = pattern_->contiguous_at(from - first_, to - first_);
    return at ? std::optional(*at + origin_) : std::nullopt;
  }

  /// How the file's bytes of positions [from, to) repeat (Pattern::repeat), in offsets of the file.
  std::optional<Pattern::Repeat> repeat(int64_t from, int64_t to) const {
    auto found = pattern_->repeat(from - first_, to - first_);
    if (found) {
      found->begin += origin_;
      found->end += origin_;
    }
    return found;
  }

  /// Whole encoding of positions [from, to), for the rank that handles these bytes. Takes the
  /// whole pattern where that is small, else the part.
  std::vector<std::byte> encode(int64_t from, int64_t to) const;
  static Result<Access> decode(std::span<const std::byte> data);
  /// The same; shares the patterns of the pool.
  static Result<Access> decode(std::span<const std::byte> data, PatternPool& pool);

  /// The same bytes `distance` further on in the file.
  Access shifted(int64_t distance) const {
    Access access = *this;
    access.origin_ += distance;
    return access;
  }
  /// How far `other` is shifted, if it is this one elsewhere and shares its pattern.
  std::optional<int64_t> distance_to(const Access& other) const {
    if (pattern_ != other.pattern_ || first_ != other.first_ || begin_ != other.begin_ ||
        end_ != other.end_)
      return std::nullopt;
    return other.origin_ - origin_;
  }

  /// Contiguous pieces that it consists of, about: counted in whole tiles of the view.
  int64_t blocks() const { return pattern_->blocks(); }
  int64_t footprint() const { return pattern_->footprint(); }

 private:
  PatternPtr pattern_ = Pattern::block(0);
  int64_t origin_ = 0;
  int64_t first_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

}  // namespace haichi::mpiio
