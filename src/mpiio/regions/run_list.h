// Runs of bytes of a window, ascending, where many may be alike: those that repeat at a distance
// are kept once.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "plan/file_domains.h"

namespace haichi::mpiio {

/// Maximal runs: ascending, and no two touch. Three parts: some runs, some that come again every
/// `stride` bytes, some more. Any one is found in constant time.
class RunList {
 public:
  /// Goes over the runs; they are made as it goes, so it gives values, not references.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = plan::Extent;
    using difference_type = ptrdiff_t;
    using reference = plan::Extent;
    struct pointer {
      plan::Extent run;
      const plan::Extent* operator->() const { return &run; }
    };
    Iterator() = default;
    Iterator(const RunList* list, size_t at) : list_(list), at_(at) {}
    reference operator*() const { return (*list_)[at_]; }
    pointer operator->() const { return {**this}; }
    reference operator[](ptrdiff_t n) const { return *(*this + n); }
    Iterator& operator++() { return *this += 1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(ptrdiff_t n) {
      at_ += size_t(n);
      return *this;
    }
    Iterator& operator-=(ptrdiff_t n) { return *this += -n; }
    friend Iterator operator+(Iterator a, ptrdiff_t n) { return a += n; }
    friend Iterator operator-(Iterator a, ptrdiff_t n) { return a -= n; }
    friend ptrdiff_t operator-(const Iterator& a, const Iterator& b) {
      return ptrdiff_t(a.at_) - ptrdiff_t(b.at_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const RunList* list_ = nullptr;
    size_t at_ = 0;
  };

  bool empty() const { return size() == 0; }
  size_t size() const { return head_.size() + repeats_ * period_.size() + tail_.size(); }
  plan::Extent operator[](size_t i) const {
    if (i < head_.size()) return head_[i];
    i -= head_.size();
    if (i >= repeats_ * period_.size()) return tail_[i - repeats_ * period_.size()];
    const plan::Extent run = period_[i % period_.size()];
    const int64_t shift = int64_t(i / period_.size()) * stride_;
    return {run.begin + shift, run.end + shift};
  }
  plan::Extent front() const { return (*this)[0]; }
  plan::Extent back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  /// Bytes of memory that it takes, about.
  size_t footprint() const {
    return (head_.capacity() + period_.capacity() + tail_.capacity()) * sizeof(plan::Extent);
  }

  /// Adds a run behind all others; joins it with the last if they touch.
  void add(plan::Extent run) {
    std::vector<plan::Extent>& last = repeats_ > 0 ? tail_ : head_;
    if (!last.empty() && last.back().end == run.begin)
      last.back().end = run.end;
    else
      last.push_back(run);
  }
  /// Adds `runs`, and again `repeats` - 1 times, each time `stride` bytes further on. Once in a
  /// list; the first must not touch the run before it, nor what comes later the last.
  void add_repeated(std::vector<plan::Extent> runs, int64_t stride, size_t repeats) {
    period_ = std::move(runs);
    stride_ = stride;
    repeats_ = repeats;
  }

 private:
  std::vector<plan::Extent> head_, period_, tail_;
  int64_t stride_ = 0;
  size_t repeats_ = 0;
};

}  // namespace haichi::mpiio
