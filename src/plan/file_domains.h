// How a range of the file is divided among aggregators and cycles (two-phase I/O; paper 000, Fig.
// 1; ROMIO's Lustre driver for stripes).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/extent.h"
#include "plan/window_layout.h"

namespace haichi::plan {

/// The part of the file that each aggregator handles in each cycle. Over all aggregators and cycles
/// the windows cover every byte of the range exactly once; none is larger than `buffer`; an
/// aggregator's windows ascend with the cycle. All offsets are in bytes and absolute.
///
/// Without stripes (stripe_unit 0): the range is cut into one contiguous domain per aggregator,
/// even within one `alignment` block (1 byte if alignment is 0). All borders but the range's own
/// are multiples of `alignment`; where the range is short, the last domains are empty. Cycle c of
/// an aggregator is the c-th `buffer` bytes of its domain; if the buffer holds a whole alignment
/// block, cycle borders are multiples of `alignment` too (which leaves a part of the buffer unused,
/// and shortens the first window of an unaligned range).
///
/// With stripes: stripe s (s = offset / stripe_unit) belongs to aggregator s % aggregators, so that
/// each one talks to a fixed set of servers. A cycle is one stripe, or one `buffer`-sized part of
/// it where the stripe is larger; no window crosses a stripe's border. `alignment` is not used.
///
/// Constant time and memory for any range up to INT64_MAX. Preconditions: 0 <= range.begin <=
/// range.end, stripe_unit and alignment >= 0; aggregators and buffer count as 1 if smaller.
///
/// Or the parts of each aggregator are given (plan/locality.h): its windows are these parts in
/// order, cut evenly, in whole pages, where they are larger than the buffer, or than a part of it
/// where another aggregator has more than twice as many bytes. Or these are packed: a window has as
/// many parts as the buffer holds, without the holes between them, where those are nobody's. So no
/// other window has bytes within the hull of one, whoever's it is.
class FileDomains {
 public:
  FileDomains(Extent range, int aggregators, int64_t buffer, int64_t stripe_unit,
              int64_t alignment);
  /// `parts[a]` ascend, and no two parts of any aggregators share a byte.
  FileDomains(const std::vector<std::vector<Extent>>& parts, int64_t buffer);
  /// The same, packed.
  static FileDomains packed(const std::vector<std::vector<Extent>>& parts, int64_t buffer);

  int aggregators() const { return aggregators_; }
  /// Cycles that the busiest aggregator needs; all run 0..cycles()-1, with empty windows where one
  /// has less. At least one window of the last cycle is not empty; 0 for an empty range.
  int64_t cycles() const { return cycles_; }
  /// What aggregator `a` (index, not rank) handles in cycle `c`; Extent{} if nothing. If its
  /// windows are packed: the hull of that.
  Extent window(int a, int64_t c) const;
  /// The same with its parts, which are those of this object.
  WindowLayout layout(int a, int64_t c) const;
  /// Smallest extent with all of the aggregator's windows; Extent{} if it has none.
  Extent hull(int a) const;

 private:
  struct Grid {
    int64_t origin;
    int64_t step;
  };
  // Without stripes; border(a) is where the domain of aggregator a begins.
  int64_t border(int a) const;
  Extent domain(int a) const;
  Grid grid_of(const Extent& domain) const;
  int64_t cycles_of(int a) const;
  Extent window_of_domain(int a, int64_t c) const;
  // With stripes; first_stripe(a) is the first of aggregator a's in the range, or -1.
  int64_t first_stripe(int a) const;
  void count_striped_cycles();
  Extent window_of_stripe(int a, int64_t c) const;
  static void list_windows(Extent part, int64_t most, std::vector<Extent>& windows);
  void pack_windows(const std::vector<std::vector<Extent>>& parts);
  void pack_run(size_t a, std::span<const Extent> run, int64_t most);

  Extent range_;
  int aggregators_;
  int64_t buffer_;
  int64_t stripe_unit_;
  int64_t alignment_;
  std::vector<std::vector<Extent>> listed_;  // windows by aggregator, if parts were given
  struct Packed {
    std::vector<WindowPart> parts;  // of all windows
    std::vector<size_t> ends;       // there, of each window's
  };
  std::vector<Packed> packed_;  // by aggregator, if they are packed
  int64_t skipped_ = 0;         // with stripes: leading parts of the first stripe that nobody needs
  int64_t cycles_ = 0;
};

}  // namespace haichi::plan
