#include "mpiio/occupied.h"

#include <algorithm>

#include "base/rounding.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

// The range is halved down to this fraction of it: smaller holes are not seen.
constexpr int64_t kHole = 1024;
// So many places of the range are looked at first, of this fraction of it each.
constexpr int64_t kSamples = 8, kSampled = 64;
// An access in more parts than this is not sparse but strided.
constexpr size_t kMostParts = 64;
// The range is that of holes if its parts are at most the fraction 1 / kSparse of it.
constexpr int64_t kSparse = 4;

Extent common(const Extent& a, const Extent& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

bool has_bytes(const RankDemand& demand, const Extent& part) {
  const Extent own = common(part, demand.hull);
  if (own.empty() || !demand.access) return !own.empty();
  return demand.access->position_of(own.end) > demand.access->position_of(own.begin);
}

/// Whether a few places of the range show a hole: most ranges have none, and are not searched.
bool seems_sparse(const Extent& range, const std::vector<RankDemand>& demands) {
  int empty = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t begin = range.begin + range.size() / kSamples * i + range.size() / kSampled;
    const Extent place{begin, begin + range.size() / kSampled};
    empty += std::none_of(demands.begin(), demands.end(),
                          [&](const RankDemand& each) { return has_bytes(each, place); });
  }
  return empty > kSamples / 2;
}

/// From the first of the demand's bytes in the part to the last.
Extent tight(const RankDemand& demand, const Extent& part) {
  const Access* const access = demand.access;
  Extent result = common(part, demand.hull);
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
  if (!has_bytes(demand, part)) return true;
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

/// Where an aggregator's share ends that has room for so many bytes more: at a whole page of the
/// file, or with the part.
int64_t end_of_share(const Extent& part, int64_t room) {
  if (room >= part.size()) return part.end;
  const int64_t end = part.begin + room;
  return end + std::min(part.end - end, whole_pages(end % kPage) - end % kPage);
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
  return size_of(all) <= range.size() / kSparse ? all : std::vector<Extent>{};
}

int64_t size_of(const std::vector<Extent>& parts) {
  int64_t size = 0;
  for (const Extent& part : parts) size += part.size();
  return size;
}

std::vector<std::vector<Extent>> dealt_out(const std::vector<Extent>& parts, int aggregators) {
  std::vector<std::vector<Extent>> dealt(static_cast<size_t>(std::max(1, aggregators)));
  const int64_t share = whole_pages(divide_up(size_of(parts), int64_t(dealt.size())));
  size_t a = 0;
  int64_t room = share;
  for (Extent part : parts) {
    while (!part.empty()) {
      const bool last = a + 1 == dealt.size();
      const int64_t end = last ? part.end : end_of_share(part, room);
      dealt[a].push_back({part.begin, end});
      room -= end - part.begin;
      part.begin = end;
      if (room > 0 || last) continue;
      ++a;
      room = share;
    }
  }
  return dealt;
}

}  // namespace haichi::mpiio
