// How a range of the file is divided among aggregators and cycles (two-phase I/O; paper 000, Fig. 1;
// ROMIO's Lustre driver for stripes).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi::plan {

/// Half-open range of bytes of a file.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// The part of the file that each aggregator handles in each cycle.
///
/// Without stripes (stripe_unit 0): [range.begin, range.end) is cut evenly, one contiguous domain
/// per aggregator, borders rounded up to `alignment` (1 if 0); cycle c of an aggregator is the c-th
/// `buffer` bytes of its domain. Later domains may be empty when the range is short.
/// With stripes: stripe s (s = offset / stripe_unit) belongs to aggregator s % aggregators, so that
/// each one talks to a fixed set of servers; a cycle is one stripe, or one `buffer`-sized part of it
/// where the stripe is larger.
class FileDomains {
 public:
  FileDomains(Extent range, int aggregators, int64_t buffer, int64_t stripe_unit,
              int64_t alignment);

  int aggregators() const { return aggregators_; }
  /// Cycles that any aggregator needs; all run 0..cycles()-1, with empty windows where one has less.
  int64_t cycles() const { return cycles_; }
  /// What aggregator `a` (index, not rank) handles in cycle `c`; empty if nothing.
  Extent window(int a, int64_t c) const;
  /// Smallest extent with all of the aggregator's windows; empty if it has none.
  Extent hull(int a) const;

 private:
  Extent range_;
  int aggregators_;
  int64_t buffer_;
  int64_t stripe_unit_;
  int64_t alignment_;
  int64_t domain_ = 0;  // bytes per contiguous domain
  int64_t cycles_ = 0;
};

}  // namespace haichi::plan
