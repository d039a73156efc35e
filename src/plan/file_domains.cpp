#include "plan/file_domains.h"

#include <algorithm>

#include "base/rounding.h"

namespace haichi::plan {
namespace {

// A window is not smaller than this only because another aggregator has more.
constexpr int64_t kLeastOfLess = 32 << 10;

}  // namespace

// Nothing here may overflow for ranges up to INT64_MAX: products are formed only where they are
// known to stay within range_.end, and ends are found by sizes, not by sums.

FileDomains::FileDomains(Extent range, int aggregators, int64_t buffer, int64_t stripe_unit,
                         int64_t alignment)
    : range_(range.empty() ? Extent{} : range),
      aggregators_(std::max(1, aggregators)),
      buffer_(std::max(int64_t{1}, buffer)),
      stripe_unit_(std::max(int64_t{0}, stripe_unit)),
      alignment_(std::max(int64_t{1}, alignment)) {
  if (range_.empty()) return;
  if (stripe_unit_ > 0) {
    count_striped_cycles();
    return;
  }
  // Only the range's own borders shorten a domain: domain 1 is at least as large as all later ones,
  // and domain 0, which may have a block more, loses what lies before the range's begin.
  cycles_ = std::max(cycles_of(0), cycles_of(std::min(1, aggregators_ - 1)));
}

FileDomains::FileDomains(const std::vector<std::vector<Extent>>& parts, int64_t buffer)
    : aggregators_(std::max(1, int(parts.size()))),
      buffer_(std::max(int64_t{1}, buffer)),
      stripe_unit_(0),
      alignment_(1),
      listed_(size_t(aggregators_)) {
  std::vector<int64_t> bytes(parts.size());
  for (size_t a = 0; a < parts.size(); ++a)
    for (const Extent& part : parts[a]) bytes[a] += part.size();
  const int64_t longest = parts.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  for (size_t a = 0; a < parts.size(); ++a) {
    // Who has much less has smaller windows and not fewer cycles: else its messages come all at
    // once, and its links stand still while the others go on.
    int64_t most = buffer_;
    if (bytes[a] < longest / 2) {
      const double share = double(bytes[a]) / double(longest);
      most =
          std::min(buffer_, std::max(kLeastOfLess, whole_pages(int64_t(share * double(buffer_)))));
    }
    for (const Extent& part : parts[a]) list_windows(part, most, listed_[a]);
    cycles_ = std::max(cycles_, int64_t(listed_[a].size()));
  }
}

// Windows of the same size as nearly as pages allow: of a part a little larger than the buffer, one
// full window and a small rest would take two cycles all the same; a page that two windows share is
// written twice.
void FileDomains::list_windows(Extent part, int64_t most, std::vector<Extent>& windows) {
  const int64_t number = divide_up(part.size(), most);
  int64_t each = divide_up(part.size(), std::max<int64_t>(1, number));
  each = each > most - kPage ? most : whole_pages(each);
  for (; !part.empty(); part.begin += std::min(each, part.size()))
    windows.push_back({part.begin, part.begin + std::min(each, part.size())});
}

int64_t FileDomains::border(int a) const {
  const int64_t first = range_.begin / alignment_;
  const int64_t blocks = divide_up(range_.end, alignment_) - first;
  const int64_t before = a * (blocks / aggregators_) + std::min(int64_t{a}, blocks % aggregators_);
  if (before == 0) return range_.begin;
  if (before == blocks) return range_.end;
  return (first + before) * alignment_;
}

Extent FileDomains::domain(int a) const {
  const Extent whole{border(a), border(a + 1)};
  return whole.empty() ? Extent{} : whole;
}

// Where cycle 0 of a domain begins if cycles are to have aligned borders, and the bytes of a cycle.
FileDomains::Grid FileDomains::grid_of(const Extent& domain) const {
  if (buffer_ < alignment_) return {domain.begin, buffer_};
  return {domain.begin - domain.begin % alignment_, buffer_ - buffer_ % alignment_};
}

int64_t FileDomains::cycles_of(int a) const {
  const Extent whole = domain(a);
  const Grid grid = grid_of(whole);
  return divide_up(whole.end - grid.origin, grid.step);
}

Extent FileDomains::window_of_domain(int a, int64_t c) const {
  if (c >= cycles_of(a)) return {};
  const Extent whole = domain(a);
  const Grid grid = grid_of(whole);
  const int64_t begin = grid.origin + c * grid.step;
  return {std::max(begin, whole.begin), begin + std::min(grid.step, whole.end - begin)};
}

int64_t FileDomains::first_stripe(int a) const {
  const int64_t first = range_.begin / stripe_unit_;
  const int64_t last = (range_.end - 1) / stripe_unit_;
  const int64_t owner = first % aggregators_;
  const int64_t ahead = a >= owner ? a - owner : a - owner + aggregators_;
  return ahead > last - first ? -1 : first + ahead;
}

// Cycles come in groups: one group handles one stripe of each aggregator, in as many parts as the
// buffer needs for it. The parts before and after the range are left out where no aggregator has
// any use for them: before it if the range lies in one stripe, after it if the last group holds
// one stripe alone.
void FileDomains::count_striped_cycles() {
  const int64_t first = range_.begin / stripe_unit_;
  const int64_t last = (range_.end - 1) / stripe_unit_;
  const int64_t parts = divide_up(stripe_unit_, buffer_);
  if (first == last) skipped_ = (range_.begin - first * stripe_unit_) / buffer_;
  const int64_t full_groups = (last - first) / aggregators_;
  const bool alone = (last - first) % aggregators_ == 0;
  const int64_t used = alone ? (range_.end - 1 - last * stripe_unit_) / buffer_ + 1 : parts;
  cycles_ = full_groups * parts + used - skipped_;
}

Extent FileDomains::window_of_stripe(int a, int64_t c) const {
  const int64_t parts = divide_up(stripe_unit_, buffer_);
  const int64_t group = (c + skipped_) / parts, part = (c + skipped_) % parts;
  const int64_t first = first_stripe(a), last = (range_.end - 1) / stripe_unit_;
  if (first < 0 || group > (last - first) / aggregators_) return {};
  const int64_t origin = (first + group * aggregators_) * stripe_unit_;
  const int64_t begin = part * buffer_;  // within the stripe
  const int64_t size = std::min(buffer_, stripe_unit_ - begin);
  const int64_t room = range_.end - origin - begin;
  if (room <= 0) return {};
  const Extent cut{std::max(range_.begin, origin + begin), origin + begin + std::min(size, room)};
  return cut.empty() ? Extent{} : cut;
}

Extent FileDomains::window(int a, int64_t c) const {
  if (a < 0 || a >= aggregators_ || c < 0 || c >= cycles_) return {};
  if (!listed_.empty()) {
    const std::vector<Extent>& windows = listed_[size_t(a)];
    return c < int64_t(windows.size()) ? windows[size_t(c)] : Extent{};
  }
  return stripe_unit_ > 0 ? window_of_stripe(a, c) : window_of_domain(a, c);
}

Extent FileDomains::hull(int a) const {
  if (a < 0 || a >= aggregators_) return {};
  if (!listed_.empty()) {
    const std::vector<Extent>& windows = listed_[size_t(a)];
    return windows.empty() ? Extent{} : Extent{windows.front().begin, windows.back().end};
  }
  if (range_.empty()) return {};
  if (stripe_unit_ == 0) return domain(a);
  const int64_t first = first_stripe(a);
  if (first < 0) return {};
  const int64_t last = (range_.end - 1) / stripe_unit_;
  const int64_t final = last - (last - first) % aggregators_;
  const int64_t origin = final * stripe_unit_;
  return {std::max(range_.begin, first * stripe_unit_),
          origin + std::min(stripe_unit_, range_.end - origin)};
}

}  // namespace haichi::plan
