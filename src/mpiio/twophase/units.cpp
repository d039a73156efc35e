#include "mpiio/twophase/units.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

constexpr int64_t kLeastUnit = 16 << 10;
// About: a thousand ranks' bytes in so many units are counted in some milliseconds.
constexpr int64_t kMostUnits = 1024;

/// Every how many bytes the accesses of all ranks repeat, or 0.
int64_t common_stride(const std::vector<RankDemand>& demands) {
  int64_t stride = 0;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    const auto repeat = demand.access
                            ? demand.access->repeat(demand.access->begin(), demand.access->end())
                            : std::nullopt;
    if (!repeat || repeat->stride <= 0 || (stride > 0 && repeat->stride != stride)) return 0;
    stride = repeat->stride;
  }
  return stride;
}

struct Border {
  int64_t at;
  int64_t times;  // that an access begins or ends there
};

/// Where accesses begin and end within a stride, ascending; of some closer together than `apart`
/// only the one where most do: ranks that have parts of the same rows begin some bytes apart.
std::vector<Border> borders_within(int64_t stride, int64_t apart,
                                   const std::vector<RankDemand>& demands) {
  std::vector<int64_t> all;
  for (const RankDemand& demand : demands)
    if (!demand.hull.empty())
      all.insert(all.end(), {demand.hull.begin % stride, demand.hull.end % stride});
  std::sort(all.begin(), all.end());
  std::vector<Border> borders;
  for (size_t i = 0; i < all.size();) {
    const size_t first = i;
    while (i < all.size() && all[i] == all[first]) ++i;
    const Border border{all[first], int64_t(i - first)};
    if (borders.empty() || border.at - borders.back().at >= apart)
      borders.push_back(border);
    else if (border.times > borders.back().times)
      borders.back() = border;
  }
  // The next stride begins where this one ends.
  if (borders.size() > 1 && stride - borders.back().at + borders.front().at < apart)
    borders.erase(borders.front().times < borders.back().times ? borders.begin()
                                                               : borders.end() - 1);
  return borders;
}

/// The borders between units of about `unit` bytes from `begin` to `end`: of one size but for the
/// last, which is smaller.
void cut_evenly(int64_t begin, int64_t end, int64_t unit, std::vector<int64_t>& borders) {
  const int64_t size = end - begin;
  const int64_t count = std::max<int64_t>(1, size / unit + (size % unit >= unit / 2));
  const int64_t each = whole_pages(divide_up(size, count));
  for (; end - begin > each; begin += each) borders.push_back(begin + each);
}

/// The stride of the borders: that of the accesses if several units are in it, else one without
/// end.
int64_t stride_of_borders(const Extent& range, int64_t unit,
                          const std::vector<RankDemand>& demands) {
  const int64_t stride = common_stride(demands);
  return stride >= 2 * unit && stride < range.size() ? stride : INT64_MAX;
}

}  // namespace

std::vector<int64_t> borders_of_units(const Extent& range, const std::vector<RankDemand>& demands) {
  const int64_t unit = std::max(kLeastUnit, range.size() / kMostUnits + 1), apart = unit / 2;
  const int64_t stride = stride_of_borders(range, unit, demands);
  const std::vector<Border> within = borders_within(stride, apart, demands);
  std::vector<int64_t> borders{range.begin};
  for (int64_t first = range.begin - range.begin % stride;; first += stride) {
    for (const Border& border : within) {
      if (border.at >= range.end - first) break;
      const int64_t at = first + border.at;
      if (at - borders.back() < apart || range.end - at < apart) continue;
      cut_evenly(borders.back(), at, unit, borders);
      borders.push_back(at);
    }
    if (range.end - first <= stride) break;
  }
  cut_evenly(borders.back(), range.end, unit, borders);
  borders.push_back(range.end);
  return borders;
}

std::vector<Extent> units_of_parts(const std::vector<Extent>& parts) {
  const int64_t unit = std::max(kLeastUnit, size_of(parts) / kMostUnits + 1);
  std::vector<Extent> units;
  int64_t filled = unit;  // of the last one
  for (const Extent& part : parts) {
    if (filled + part.size() <= unit) {
      units.back().end = part.end;
      filled += part.size();
      continue;
    }
    std::vector<int64_t> ends;
    cut_evenly(part.begin, part.end, unit, ends);
    ends.push_back(part.end);
    int64_t begin = part.begin;
    for (const int64_t end : ends) units.push_back({std::exchange(begin, end), end});
    filled = units.back().size();
  }
  return units;
}

}  // namespace haichi::mpiio
