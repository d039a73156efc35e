#include "mpiio/twophase/occupied.h"

#include <algorithm>
#include <span>

#include "base/rounding.h"
#include "mpiio/regions/coverage.h"
#include "mpiio/twophase/cut.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

// So many places of the range are looked at first, of this fraction of it each.
constexpr int64_t kSamples = 8, kSampled = 64;
// How often all accesses are asked where their bytes are, a tenth of a microsecond each: a part
// takes four questions, and larger holes are looked for before.
constexpr int64_t kMostQuestions = 6 * kMostParts;
// Holes are looked for by leaps, first of this fraction of the range, then of this fraction of
// that.
constexpr int64_t kFiner = 32;

bool has_bytes(const RankDemand& demand, const Extent& part) {
  const Extent own = common(part, demand.hull);
  if (own.empty() || !demand.access) return !own.empty();
  return demand.access->position_of(own.end) > demand.access->position_of(own.begin);
}

/// Whether a few places of the range show a hole: most ranges have none, and are not searched.
bool shows_holes(const Extent& range, const std::vector<RankDemand>& demands) {
  int empty = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t begin = range.begin + range.size() / kSamples * i + range.size() / kSampled;
    const Extent place{begin, begin + range.size() / kSampled};
    empty += std::none_of(demands.begin(), demands.end(),
                          [&](const RankDemand& each) { return has_bytes(each, place); });
  }
  return empty > kSamples / 2;
}

/// Parts that are closer together than `hole` are one.
void join(const Extent& part, int64_t hole, std::vector<Extent>& parts) {
  if (!parts.empty() && part.begin - parts.back().end < hole)
    parts.back().end = std::max(parts.back().end, part.end);
  else
    parts.push_back(part);
}

std::vector<Extent> united(std::vector<Extent> parts, int64_t hole) {
  std::sort(parts.begin(), parts.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<Extent> result;
  for (const Extent& part : parts) join(part, hole, result);
  return result;
}

int64_t offset_of(const Access& access, int64_t position) {
  int64_t offset = 0;
  access.for_each_block(position, position + 1, [&](int64_t at, int64_t) { offset = at; });
  return offset;
}

/// Finds parts of accesses, and gives up when it has asked too often.
class Search {
 public:
  Search(std::span<const Access> accesses, int64_t hole) : accesses_(accesses), hole_(hole) {}

  /// Adds the parts of all accesses in `within`, in whose end it knows of no smaller holes once
  /// they have `enough` bytes in all. False if it takes too long.
  bool find(const Extent& within, int64_t enough, std::vector<Extent>& found) {
    if (within.empty()) return true;
    std::vector<Extent> parts{within};
    int64_t leap = within.size();
    do {
      leap = std::max(hole_, leap / kFiner);
      std::vector<Extent> finer;
      for (const Extent& part : parts)
        if (!is_dense(part)) {
          if (!scan(part, leap, finer)) return false;
        } else {
          join(part, hole_, finer);
        }
      parts.swap(finer);
    } while (leap > hole_ && size_of(parts) > enough);
    for (const Extent& part : parts) join(part, hole_, found);
    return int64_t(found.size()) <= kMostParts;
  }

 private:
  bool may_ask(int64_t questions) { return (asked_ += questions) <= kMostQuestions; }

  bool is_dense(const Extent& part) {
    int64_t bytes = 0;
    for (const Access& access : accesses_)
      bytes += access.position_of(part.end) - access.position_of(part.begin);
    asked_ += 2 * int64_t(accesses_.size());
    return bytes > part.size() / 2;
  }

  /// Parts without holes of `leap` bytes.
  bool scan(const Extent& within, int64_t leap, std::vector<Extent>& found) {
    std::vector<Extent> all;
    for (const Access& access : accesses_)
      if (!scan_of(access, within, leap, all)) return false;
    for (const Extent& part : united(std::move(all), leap)) join(part, hole_, found);
    return int64_t(found.size()) <= kMostParts;
  }

  /// The same of one access, by leaps, however many pieces there are.
  bool scan_of(const Access& access, const Extent& within, int64_t leap,
               std::vector<Extent>& found) {
    int64_t next = access.position_of(within.begin);
    const int64_t stop = access.position_of(within.end);
    if (!may_ask(2)) return false;
    while (next < stop) {
      Extent part{offset_of(access, next), 0};
      if (access.contiguous_at(next, stop)) {
        found.push_back({part.begin, part.begin + (stop - next)});
        return true;
      }
      for (bool more = true; more;) {
        part.end = offset_of(access, next) + 1;
        const int64_t reach = std::min(within.end - part.end, leap);
        const int64_t last = access.position_of(part.end + reach) - 1;
        more = last > next;
        next = std::max(next, last);
        if (!may_ask(2)) return false;
      }
      found.push_back(part);
      ++next;
    }
    return true;
  }

  const std::span<const Access> accesses_;
  const int64_t hole_;
  int64_t asked_ = 0;
};

/// Where the accesses repeat, one period is looked at.
bool find_all(std::span<const Access> accesses, const Extent& range, int64_t hole, int64_t enough,
              std::vector<Extent>& found) {
  Search search(accesses, hole);
  const auto periods = common_periods(accesses, range);
  if (!periods) return search.find(range, enough, found);
  std::vector<Extent> first;
  if (!search.find({range.begin, periods->begin}, enough, found) ||
      !search.find(periods->first(), enough / periods->count, first) ||
      periods->count * int64_t(first.size()) > kMostParts)
    return false;
  for (int64_t shift = 0; shift < periods->end() - periods->begin; shift += periods->size)
    for (const Extent& part : first) join({part.begin + shift, part.end + shift}, hole, found);
  return search.find({periods->end(), range.end}, enough, found);
}

/// Where an aggregator's share ends that has room for so many bytes more: at a whole page of the
/// file, or with the part.
int64_t end_of_share(const Extent& part, int64_t room) {
  if (room >= part.size()) return part.end;
  const int64_t end = part.begin + room;
  return end + std::min(part.end - end, whole_pages(end % kPage) - end % kPage);
}

}  // namespace

bool may_be_sparse(const Demand& together) {
  return together.bytes <= most_in_parts(together.hull.size());
}

std::vector<Extent> occupied_parts(const Extent& range, const std::vector<RankDemand>& demands,
                                   int64_t hole, int64_t enough) {
  int64_t bytes = 0;
  for (const RankDemand& demand : demands) bytes += demand.bytes;
  // The ranks may want the same bytes.
  const int64_t most = most_in_parts(range.size());
  if (bytes > most && !shows_holes(range, demands)) return {};
  std::vector<Access> accesses;
  std::vector<Extent> parts;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    if (demand.access)
      accesses.push_back(*demand.access);
    else if (demand.parts && !demand.parts->empty())
      parts.insert(parts.end(), demand.parts->begin(), demand.parts->end());
    else
      parts.push_back(demand.hull);
  }
  std::vector<Extent> found;
  if (!find_all(accesses, range, hole, std::min(enough, most), found)) return {};
  parts.insert(parts.end(), found.begin(), found.end());
  parts = united(std::move(parts), hole);
  return size_of(parts) <= most ? parts : std::vector<Extent>{};
}

std::vector<Extent> parts_to_tell(const Access& access, int64_t hole, int64_t most) {
  const Extent hull = access.hull();
  if (access.empty()) return {};
  for (; hole < hull.size(); hole *= kFiner) {
    std::vector<Extent> parts;
    Search search({&access, 1}, hole);
    if (search.find(hull, 0, parts) && int64_t(parts.size()) <= most) return parts;
    if (hole > INT64_MAX / kFiner) break;
  }
  return {hull};
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

std::vector<std::vector<Extent>> striped_out(const std::vector<Extent>& parts, int64_t unit,
                                             int aggregators) {
  std::vector<std::vector<Extent>> dealt(static_cast<size_t>(std::max(1, aggregators)));
  for (Extent part : parts) {
    while (!part.empty()) {
      const int64_t stripe = part.begin / unit;
      const int64_t room = unit - part.begin % unit;
      const int64_t end = part.begin + std::min(room, part.size());
      dealt[size_t(stripe % int64_t(dealt.size()))].push_back({part.begin, end});
      part.begin = end;
    }
  }
  return dealt;
}

std::vector<Extent> common_parts(const std::vector<Extent>& whole,
                                 const std::vector<Extent>& parts) {
  std::vector<Extent> result;
  auto part = parts.begin();
  for (const Extent& each : whole) {
    part = std::lower_bound(part, parts.end(), each.begin,
                            [](const Extent& p, int64_t at) { return p.end <= at; });
    for (auto next = part; next != parts.end() && next->begin < each.end; ++next)
      result.push_back(common(each, *next));
  }
  return result;
}

}  // namespace haichi::mpiio
