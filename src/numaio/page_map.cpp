#include "numaio/page_map.h"

#include <algorithm>
#include <utility>

namespace haichi::numaio {
namespace {

// Pages that differ, with what lies between them not yet known.
struct Gap {
  int64_t left, right;
  int left_node, right_node;
};

// One in each of `samples` parts of equal size, but not at equal distances: of pages that lie on
// nodes in turns those would all be of one node.
std::vector<int64_t> sample_places(int64_t pages, int64_t samples) {
  std::vector<int64_t> places;
  if (pages <= samples) {
    for (int64_t page = 0; page < pages; ++page) places.push_back(page);
    return places;
  }
  uint32_t draw = 0x9e3779b9;
  places.push_back(0);
  for (int64_t i = 1; i + 1 < samples; ++i) {
    draw = draw * 1664525 + 1013904223;
    const int64_t begin = pages / samples * i, width = pages / samples;
    places.push_back(begin + int64_t(draw >> 8) % width);
  }
  places.push_back(pages - 1);
  return places;
}

std::vector<Gap> gaps_between(const std::vector<int64_t>& places, const std::vector<int>& nodes) {
  std::vector<Gap> gaps;
  for (size_t i = 1; i < places.size(); ++i)
    if (nodes[i] != nodes[i - 1])
      gaps.push_back({places[i - 1], places[i], nodes[i - 1], nodes[i]});
  return gaps;
}

// Halves all gaps at once until each is a border. What lies in the middle and is like neither side
// makes a border of its own.
Status narrow(std::vector<Gap>& gaps, const LookUp& look_up, int64_t& looked_up) {
  std::vector<Gap> done;
  while (!gaps.empty()) {
    std::vector<Gap> open;
    std::vector<int64_t> middles;
    for (const Gap& gap : gaps) {
      if (gap.right - gap.left == 1) {
        done.push_back(gap);
      } else {
        open.push_back(gap);
        middles.push_back(gap.left + (gap.right - gap.left) / 2);
      }
    }
    std::vector<int> nodes(middles.size());
    if (!middles.empty())
      if (auto asked = look_up(middles, nodes); !asked) return asked;
    looked_up += int64_t(middles.size());
    gaps.clear();
    for (size_t i = 0; i < open.size(); ++i) {
      const Gap& gap = open[i];
      if (nodes[i] != gap.left_node)
        gaps.push_back({gap.left, middles[i], gap.left_node, nodes[i]});
      if (nodes[i] != gap.right_node)
        gaps.push_back({middles[i], gap.right, nodes[i], gap.right_node});
    }
  }
  std::sort(done.begin(), done.end(), [](const Gap& a, const Gap& b) { return a.left < b.left; });
  gaps = std::move(done);
  return {};
}

}  // namespace

LookUp counted_from(int64_t first, LookUp look_up) {
  return
      [first, look_up = std::move(look_up)](std::span<const int64_t> pages, std::span<int> nodes) {
        std::vector<int64_t> moved(pages.begin(), pages.end());
        for (int64_t& page : moved) page += first;
        return look_up(moved, nodes);
      };
}

Result<PageMap> map_pages(int64_t pages, const LookUp& look_up, int64_t samples) {
  PageMap map;
  if (pages <= 0) return map;
  const std::vector<int64_t> places = sample_places(pages, std::max<int64_t>(samples, 2));
  std::vector<int> nodes(places.size());
  if (auto asked = look_up(places, nodes); !asked) return tl::unexpected(asked.error());
  map.looked_up = int64_t(places.size());
  std::vector<Gap> gaps = gaps_between(places, nodes);
  const bool exact = int64_t(places.size()) == pages;
  if (!exact && int64_t(gaps.size()) > std::max<int64_t>(samples / 4, 1)) {
    map.segments.push_back({0, pages, kInterleaved});
    return map;
  }
  if (auto narrowed = narrow(gaps, look_up, map.looked_up); !narrowed)
    return tl::unexpected(narrowed.error());
  int64_t first = 0;
  for (const Gap& gap : gaps) {
    map.segments.push_back({first, gap.right - first, gap.left_node});
    first = gap.right;
  }
  map.segments.push_back({first, pages - first, gaps.empty() ? nodes.front() : nodes.back()});
  return map;
}

}  // namespace haichi::numaio
