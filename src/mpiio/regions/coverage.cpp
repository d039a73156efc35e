#include "mpiio/regions/coverage.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

namespace haichi::mpiio {
namespace {

using plan::Extent;

// A list of blocks, and as much to merge it, becomes a bit map where that is smaller: from one
// block in this many bytes on.
constexpr int64_t kBytesPerBlock = 8 * 2 * sizeof(Extent);
// A shorter list is always a list.
constexpr size_t kSmallList = 256;
// Fewer periods than this are not worth looking for.
constexpr int64_t kFewPeriods = 4;

/// One bit for each byte of an extent.
class BitMap {
 public:
  explicit BitMap(Extent extent)
      : origin_(extent.begin), size_(extent.size()), words_(size_t(size_ / 64 + 2)) {}

  /// True if a byte of the block was marked before.
  bool mark(Extent block) {
    const int64_t first = block.begin - origin_, last = block.end - origin_ - 1;
    if (last - first < 64) {  // two words at most, without a branch on whether it is one
      const auto bits = static_cast<unsigned __int128>(~uint64_t{0} >> (63 - (last - first)))
                        << (first % 64);
      const size_t word = size_t(first / 64);
      const bool twice = mark(word, uint64_t(bits));
      return mark(word + 1, uint64_t(bits >> 64)) | twice;
    }
    const uint64_t left = ~uint64_t{0} << (first % 64), right = ~uint64_t{0} >> (63 - last % 64);
    size_t at = size_t(first / 64);
    const size_t stop = size_t(last / 64);
    if (at == stop) return mark(at, left & right);
    bool twice = mark(at, left);
    while (++at < stop) twice |= mark(at, ~uint64_t{0});
    return twice | mark(stop, right);
  }

  void add_runs(RunList& runs) const {
    for (int64_t at = next(0, true); at < size_;) {
      const int64_t end = next(at, false);
      runs.add({origin_ + at, origin_ + end});
      at = next(end, true);
    }
  }

 private:
  bool mark(size_t word, uint64_t bits) {
    const bool twice = words_[word] & bits;
    words_[word] |= bits;
    return twice;
  }
  // The first byte from `at` on that is marked, or not; at most the size.
  int64_t next(int64_t at, bool marked) const {
    if (at >= size_) return size_;
    const uint64_t flip = marked ? 0 : ~uint64_t{0};
    size_t word = size_t(at / 64);
    uint64_t bits = (words_[word] ^ flip) & (~uint64_t{0} << (at % 64));
    while (bits == 0)
      if (++word == words_.size())
        return size_;
      else
        bits = words_[word] ^ flip;
    return std::min(size_, int64_t(word) * 64 + std::countr_zero(bits));
  }

  const int64_t origin_, size_;
  std::vector<uint64_t> words_;
};

template <class Visit>
void for_each_block(const Access& access, Extent extent, Visit&& visit) {
  access.for_each_block(access.position_of(extent.begin), access.position_of(extent.end),
                        [&](int64_t at, int64_t n) { visit(Extent{at, at + n}); });
}

/// The blocks of all accesses in one list, each access's ascending; or in a bit map, if there are
/// too many.
struct Collected {
  std::vector<Extent> blocks;
  std::vector<size_t> ends;  // in `blocks`, one an access that has any
  std::optional<BitMap> map;
  bool overlap = false;
};

Collected collect(std::span<const Access> accesses, Extent extent, size_t most) {
  Collected found;
  auto mark = [&](Extent block) { found.overlap |= found.map->mark(block); };
  for (const Access& access : accesses) {
    for_each_block(access, extent, [&](Extent block) {
      if (found.map) return mark(block);
      if (found.blocks.size() < most) return found.blocks.push_back(block);
      found.map.emplace(extent);
      std::for_each(found.blocks.begin(), found.blocks.end(), mark);
      found.blocks = {};
      mark(block);
    });
    if (found.ends.empty() ? !found.blocks.empty() : found.blocks.size() > found.ends.back())
      found.ends.push_back(found.blocks.size());
  }
  return found;
}

/// One ascending list of the lists: neighbours are merged until one is left.
std::vector<Extent> merged(std::vector<Extent> blocks, std::vector<size_t> ends) {
  const auto before = [](const Extent& a, const Extent& b) { return a.begin < b.begin; };
  std::vector<Extent> other(ends.size() > 1 ? blocks.size() : 0);
  while (ends.size() > 1) {
    std::vector<size_t> next;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t stop = ends[std::min(i + 1, ends.size() - 1)];
      const auto first = blocks.begin() + int64_t(begin),
                 middle = blocks.begin() + int64_t(ends[i]);
      std::merge(first, middle, middle, blocks.begin() + int64_t(stop),
                 other.begin() + int64_t(begin), before);
      next.push_back(begin = stop);
    }
    blocks.swap(other);
    ends = std::move(next);
  }
  return blocks;
}

void merge(Collected lists, Coverage& coverage) {
  Extent run{};
  for (const Extent& block : merged(std::move(lists.blocks), std::move(lists.ends))) {
    if (!run.empty() && block.begin <= run.end) {
      coverage.overlap |= block.begin < run.end;
      run.end = std::max(run.end, block.end);
    } else {
      if (!run.empty()) coverage.runs.add(run);
      run = block;
    }
  }
  if (!run.empty()) coverage.runs.add(run);
}

/// Blocks of an extent that are kept as a list, at most.
size_t most_listed(int64_t bytes) { return std::max(kSmallList, size_t(bytes / kBytesPerBlock)); }

/// Of blocks in a row of memory.
void add_row(std::span<const Access> accesses, Extent extent, Coverage& coverage) {
  Collected found = collect(accesses, extent, most_listed(extent.size()));
  coverage.overlap |= found.overlap;
  if (found.map)
    found.map->add_runs(coverage.runs);
  else
    merge(std::move(found), coverage);
}

/// True if the accesses have more than `most` blocks in the extent.
bool has_more(std::span<const Access> accesses, Extent extent, size_t most) {
  size_t blocks = 0;
  for (const Access& access : accesses) {
    for_each_block(access, extent, [&](Extent) { ++blocks; });
    if (blocks > most) return true;
  }
  return false;
}

/// Of the part of the window in an extent. A window of several parts is looked at as a whole if its
/// blocks are few: there may be as many parts as blocks. A bit map would have the holes, too.
void add_blocks(std::span<const Access> accesses, const plan::WindowLayout& window, Extent extent,
                Coverage& coverage) {
  if (extent.empty()) return;
  if (!window.in_parts() || !has_more(accesses, extent, most_listed(window.bytes())))
    return add_row(accesses, extent, coverage);
  window.for_each_part([&](const Extent& part) {
    const Extent inside = common(part, extent);
    if (!inside.empty()) add_row(accesses, inside, coverage);
  });
}

/// Periods of which the first has these runs. The first and the last go in by themselves, since
/// they may touch what is beside them.
void add_periods(const RunList& first, const Periods& periods, RunList& runs) {
  if (first.empty()) return;
  const int64_t stride = periods.size, begin = periods.begin;
  auto add_shifted = [&](size_t from, int64_t shift) {
    for (size_t i = from; i < first.size(); ++i)
      runs.add({first[i].begin + shift, first[i].end + shift});
  };
  if (first.front().size() == stride) return runs.add({begin, periods.end()});
  add_shifted(0, 0);
  // A run across the border of two periods: what repeats begins behind it.
  const bool wraps = first.front().begin == begin && first.back().end == begin + stride;
  const int64_t cut = wraps ? first.front().size() : 0;
  if (wraps) runs.add({begin + stride, begin + stride + cut});
  std::vector<Extent> again;
  for (size_t i = wraps; i < first.size(); ++i)
    again.push_back({first[i].begin + stride, first[i].end + stride});
  if (wraps) again.back().end += cut;
  runs.add_repeated(std::move(again), stride, size_t(periods.count - 2));
  add_shifted(wraps, (periods.count - 1) * stride);
}

}  // namespace

std::optional<Periods> common_periods(std::span<const Access> accesses, Extent extent) {
  Pattern::Repeat common{0, extent.begin, extent.end};
  for (const Access& access : accesses) {
    const int64_t from = access.position_of(extent.begin), to = access.position_of(extent.end);
    if (from >= to) continue;
    const auto own = access.repeat(from, to);
    if (!own) return std::nullopt;
    common.begin = std::max(common.begin, own->begin);
    common.end = std::min(common.end, own->end);
    if (own->stride != 0)
      common.stride = common.stride ? std::lcm(common.stride, own->stride) : own->stride;
    // Checked here too, so that the multiple stays small.
    if ((common.end - common.begin) / kFewPeriods < common.stride) return std::nullopt;
  }
  if (common.stride == 0) return std::nullopt;
  return Periods{common.begin, common.stride, (common.end - common.begin) / common.stride};
}

Coverage coverage_of(std::span<const Access> accesses, const plan::WindowLayout& window) {
  Coverage coverage;
  const Extent& hull = window.hull();
  const auto periods = common_periods(accesses, hull);
  if (!periods) {
    add_blocks(accesses, window, hull, coverage);
    return coverage;
  }
  add_blocks(accesses, window, {hull.begin, periods->begin}, coverage);
  Coverage first;
  add_blocks(accesses, window, periods->first(), first);
  coverage.overlap |= first.overlap;
  add_periods(first.runs, *periods, coverage.runs);
  add_blocks(accesses, window, {periods->end(), hull.end}, coverage);
  return coverage;
}

}  // namespace haichi::mpiio
