// Where the bytes of an aggregator's window lie in its memory: in a row, or without the holes
// between the parts of the file that the window has.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "plan/extent.h"

namespace haichi::plan {

/// A part of a window: bytes of the file in a row, and where the first of them lies in the window.
struct WindowPart {
  Extent extent;
  int64_t at = 0;
  friend bool operator==(const WindowPart&, const WindowPart&) = default;
};

/// The parts belong to whoever made them, and must outlive it.
class WindowLayout {
 public:
  WindowLayout() = default;
  /// A window that is one part; none if it is empty.
  WindowLayout(const Extent& whole)  // NOLINT(google-explicit-constructor): it is a window
      : hull_(whole), bytes_(std::max<int64_t>(0, whole.size())) {}
  /// A window of several parts, which ascend and lie one behind the other.
  explicit WindowLayout(std::span<const WindowPart> parts)
      : hull_{parts.front().extent.begin, parts.back().extent.end},
        bytes_(parts.back().at + parts.back().extent.size()),
        parts_(parts) {}

  /// Smallest extent with all parts.
  const Extent& hull() const { return hull_; }
  /// Of memory, and of the file without the holes between the parts.
  int64_t bytes() const { return bytes_; }
  /// Whether it has several parts.
  bool in_parts() const { return !parts_.empty(); }
  /// visit(extent) for each part, ascending; nothing for an empty window.
  template <class Visit>
  void for_each_part(Visit&& visit) const {
    if (parts_.empty() && !hull_.empty()) visit(hull_);
    for (const WindowPart& part : parts_) visit(part.extent);
  }

 private:
  friend class WindowPlaces;
  Extent hull_;
  int64_t bytes_ = 0;
  std::span<const WindowPart> parts_;
};

/// Tells where bytes of the file lie in a window; quickly, if they are asked for in order.
class WindowPlaces {
 public:
  explicit WindowPlaces(const WindowLayout& layout)
      : parts_(layout.parts_), begin_(layout.hull_.begin), size_(uint64_t(layout.hull_.size())) {
    if (!parts_.empty()) take(parts_.front());
  }

  /// `offset` must be one of a part.
  int64_t operator()(int64_t offset) {
    if (uint64_t(offset - begin_) >= size_ && !parts_.empty()) find(offset);
    return offset - begin_ + at_;
  }

 private:
  void take(const WindowPart& part) {
    begin_ = part.extent.begin;
    size_ = uint64_t(part.extent.size());
    at_ = part.at;
  }
  void find(int64_t offset) {
    const auto behind =
        std::upper_bound(parts_.begin(), parts_.end(), offset,
                         [](int64_t at, const WindowPart& part) { return at < part.extent.begin; });
    take(behind == parts_.begin() ? *behind : behind[-1]);
  }

  std::span<const WindowPart> parts_;
  int64_t begin_;
  uint64_t size_;
  int64_t at_ = 0;
};

}  // namespace haichi::plan
