#include "plan/file_domains.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/rounding.h"

namespace haichi::plan {
namespace {

// A window is not smaller than this only because another aggregator has more.
constexpr int64_t kLeastOfLess = 32 << 10;

/// Most bytes of the windows of each aggregator. Who has much less than another has smaller windows
/// and not fewer cycles: else its messages come all at once, and its links stand still while the
/// others go on.
std::vector<int64_t> most_of_windows(const std::vector<std::vector<Extent>>& parts,
                                     int64_t buffer) {
  std::vector<int64_t> bytes(parts.size()), most(parts.size(), buffer);
  for (size_t a = 0; a < parts.size(); ++a) bytes[a] = size_of(parts[a]);
  const int64_t longest = parts.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  for (size_t a = 0; a < parts.size(); ++a) {
    if (bytes[a] >= longest / 2) continue;
    const double share = double(bytes[a]) / double(longest);
    most[a] =
        std::min(buffer, std::max(kLeastOfLess, whole_pages(int64_t(share * double(buffer)))));
  }
  return most;
}

/// Bytes of each window if so many are cut evenly in windows of at most `most`, nearly: in whole
/// pages.
int64_t even_size(int64_t bytes, int64_t most) {
  const int64_t number = divide_up(bytes, most);
  const int64_t each = divide_up(bytes, std::max<int64_t>(1, number));
  return each > most - kPage ? most : whole_pages(each);
}

/// Where a window ends that has room for about so many bytes of the part, and for `most` at most:
/// at a whole page of the file, if it can, or with the part.
int64_t end_in_window(const Extent& part, int64_t room, int64_t most) {
  if (room >= part.size()) return part.end;
  const int64_t end = part.begin + room, beyond = end % kPage;
  if (beyond == 0) return end;
  if (kPage - beyond <= most - room) return end + std::min(part.end - end, kPage - beyond);
  return beyond < room ? end - beyond : end;
}

/// Calls visit(a, run) for each run of parts of one aggregator that has none of another in between.
template <class Visit>
void for_each_run(const std::vector<std::vector<Extent>>& parts, Visit&& visit) {
  struct Next {
    int64_t begin;
    size_t a, at;
    bool operator>(const Next& other) const { return begin > other.begin; }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto add = [&](size_t a, size_t at) {
    if (at < parts[a].size()) next.push({parts[a][at].begin, a, at});
  };
  for (size_t a = 0; a < parts.size(); ++a) add(a, 0);
  while (!next.empty()) {
    const auto [begin, a, first] = next.top();
    next.pop();
    const std::vector<Extent>& mine = parts[a];
    size_t end = first + 1;
    while (end < mine.size() && (next.empty() || mine[end].begin < next.top().begin)) ++end;
    visit(a, std::span(mine).subspan(first, end - first));
    add(a, end);
  }
}

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
  const std::vector<int64_t> most = most_of_windows(parts, buffer_);
  for (size_t a = 0; a < parts.size(); ++a) {
    for (const Extent& part : parts[a]) list_windows(part, most[a], listed_[a]);
    cycles_ = std::max(cycles_, int64_t(listed_[a].size()));
  }
}

FileDomains FileDomains::packed(const std::vector<std::vector<Extent>>& parts, int64_t buffer) {
  FileDomains domains(std::vector<std::vector<Extent>>(parts.size()), buffer);
  domains.pack_windows(parts);
  return domains;
}

void FileDomains::pack_windows(const std::vector<std::vector<Extent>>& parts) {
  packed_.resize(listed_.size());
  const std::vector<int64_t> most = most_of_windows(parts, buffer_);
  for_each_run(parts, [&](size_t a, std::span<const Extent> run) { pack_run(a, run, most[a]); });
  for (const std::vector<Extent>& windows : listed_)
    cycles_ = std::max(cycles_, int64_t(windows.size()));
}

// Windows of the same size, as list_windows has them.
void FileDomains::pack_run(size_t a, std::span<const Extent> run, int64_t most) {
  std::vector<WindowPart>& parts = packed_[a].parts;
  const int64_t each = even_size(size_of(run), most);
  int64_t in_window = 0;
  size_t first = parts.size();
  const auto close = [&] {
    if (in_window == 0) return;
    listed_[a].push_back({parts[first].extent.begin, parts.back().extent.end});
    packed_[a].ends.push_back(first = parts.size());
    in_window = 0;
  };
  for (Extent part : run) {
    while (!part.empty()) {
      const Extent taken{part.begin, end_in_window(part, each - in_window, most - in_window)};
      if (first < parts.size() && parts.back().extent.end == taken.begin)
        parts.back().extent.end = taken.end;
      else
        parts.push_back({taken, in_window});
      in_window += taken.size();
      part.begin = taken.end;
      if (in_window >= each || !part.empty()) close();
    }
  }
  close();
}

// Windows of the same size as nearly as pages allow: of a part a little larger than the buffer, one
// full window and a small rest would take two cycles all the same; a page that two windows share is
// written twice.
void FileDomains::list_windows(Extent part, int64_t most, std::vector<Extent>& windows) {
  const int64_t each = even_size(part.size(), most);
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

WindowLayout FileDomains::layout(int a, int64_t c) const {
  const Extent hull = window(a, c);
  if (packed_.empty() || hull.empty()) return hull;
  const Packed& packed = packed_[size_t(a)];
  const size_t first = c > 0 ? packed.ends[size_t(c) - 1] : 0, end = packed.ends[size_t(c)];
  if (end - first == 1) return hull;
  return WindowLayout(std::span(packed.parts).subspan(first, end - first));
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
