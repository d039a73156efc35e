#include "mpiio/occupied.h"

#include <algorithm>

#include "base/rounding.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

// Of the range: larger holes are looked for, and no larger part of it is looked at first.
constexpr int64_t kHole = 1024;
constexpr int64_t kSamples = 8, kSampled = 64;
// An access in more parts than this is not sparse but strided.
constexpr size_t kMostParts = 64;
// The range is that of holes if its parts are at most the fraction 1 / kSparse of it.
constexpr int64_t kSparse = 4;

int64_t bytes_in(const RankDemand& demand, const Extent& part) {
  const Extent common{std::max(part.begin, demand.hull.begin), std::min(part.end, demand.hull.end)};
  if (common.empty()) return 0;
  if (!demand.access) return common.size();
  return demand.access->position_of(common.end) - demand.access->position_of(common.begin);
}

/// Whether a few places of the range show a hole: most ranges have none, and are not searched.
bool seems_sparse(const Extent& range, const std::vector<RankDemand>& demands) {
  int empty = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t begin = range.begin + range.size() / kSamples * i + range.size() / kSampled;
    const Extent place{begin, begin + range.size() / kSampled};
    empty += std::none_of(demands.begin(), demands.end(),
                          [&](const RankDemand& each) { return bytes_in(each, place) > 0; });
  }
  return empty > kSamples / 2;
}

/// From the first of the demand's bytes in the part to the last.
Extent tight(const RankDemand& demand, const Extent& part) {
  const Access* const access = demand.access;
  Extent result{std::max(part.begin, demand.hull.begin), std::min(part.end, demand.hull.end)};
  if (!access) return result;
  const int64_t first = access->position_of(result.begin);
  const int64_t last = access->position_of(result.end) - 1;
  access->for_each_block(first, first + 1, [&](int64_t at, int64_t) { result.begin = at; });
  access->for_each_block(last, last + 1, [&](int64_t at, int64_t) { result.end = at + 1; });
  return result;
}

/// Parts that are closer together than `least` are one.
void join(const Extent& part, int64_t least, std::vector<Extent>& parts) {
  if (!parts.empty() && part.begin - parts.back().end < least)
    parts.back().end = std::max(parts.back().end, part.end);
  else
    parts.push_back(part);
}

/// Adds the parts of one access within `part`, halving it until it is no larger than `least`.
/// False if there are too many.
bool search(const RankDemand& demand, const Extent& part, int64_t least,
            std::vector<Extent>& found) {
  if (bytes_in(demand, part) == 0) return true;
  if (part.size() > least) {
    const int64_t middle = part.begin + part.size() / 2;
    return search(demand, {part.begin, middle}, least, found) &&
           search(demand, {middle, part.end}, least, found);
  }
  join(tight(demand, part), least, found);
  return found.size() <= kMostParts;
}

std::vector<Extent> united(std::vector<Extent> parts, int64_t least) {
  std::sort(parts.begin(), parts.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<Extent> result;
  for (const Extent& part : parts) join(part, least, result);
  return result;
}

}  // namespace

std::vector<Extent> occupied_parts(const Extent& range, const std::vector<RankDemand>& demands) {
  const int64_t least = range.size() / kHole;
  if (least < kPage || !seems_sparse(range, demands)) return {};
  std::vector<Extent> all;
  for (const RankDemand& demand : demands) {
    std::vector<Extent> own;
    if (!demand.hull.empty() && !search(demand, range, least, own)) return {};
    all.insert(all.end(), own.begin(), own.end());
    if (all.size() <= kMostParts) continue;
    all = united(std::move(all), least);
    if (all.size() > kMostParts) return {};
  }
  all = united(std::move(all), least);
  int64_t size = 0;
  for (const Extent& part : all) size += part.size();
  return size <= range.size() / kSparse ? all : std::vector<Extent>{};
}

std::vector<std::vector<Extent>> dealt_out(const std::vector<Extent>& parts, int aggregators) {
  std::vector<std::vector<Extent>> dealt(static_cast<size_t>(std::max(1, aggregators)));
  int64_t size = 0;
  for (const Extent& part : parts) size += part.size();
  const int64_t share = whole_pages(divide_up(size, int64_t(dealt.size())));
  size_t a = 0;
  int64_t room = share;
  for (Extent part : parts) {
    while (!part.empty()) {
      if (room <= 0 && a + 1 < dealt.size()) {
        ++a;
        room = share;
      }
      // The last takes what is left over by the others' whole pages.
      int64_t n = part.size();
      if (a + 1 < dealt.size() && room < n)
        n = std::min(n, whole_pages(part.begin + room) - part.begin);
      dealt[a].push_back({part.begin, part.begin + n});
      part.begin += n;
      room -= n;
    }
  }
  return dealt;
}

}  // namespace haichi::mpiio
