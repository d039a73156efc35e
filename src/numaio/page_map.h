// Where the pages of a range of memory, or of a file in the page cache, lie: found from a few
// samples. To ask for each page of 1 GiB takes as long as half of its copy does; 64 samples and a
// bisection between those that differ take some 10 us and find the borders of blocks exactly.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace haichi::numaio {

/// In place of a node's number: what a page is else.
enum PageState : int {
  kUntouched = -1,    ///< there is no page yet; who touches it first decides where it comes to be
  kNoPage = -2,       ///< the zero page, a device's memory, or nothing mapped
  kInterleaved = -3,  ///< a segment whose pages lie on nodes in turns
  kUnknown = -4,      ///< the kernel does not say
};

/// Pages one after the other that lie alike.
struct Segment {
  int64_t first;  ///< page
  int64_t pages;
  int node;  ///< or a PageState
  bool operator==(const Segment&) const = default;
};

struct PageMap {
  std::vector<Segment> segments;  ///< ascending, without holes
  int64_t looked_up = 0;          ///< pages that were asked for
};

/// Says where pages lie: a node, or a PageState, for each of the pages asked for.
using LookUp = std::function<Status(std::span<const int64_t> pages, std::span<int> nodes)>;

/// The same for pages that are counted from page `first` on.
LookUp counted_from(int64_t first, LookUp look_up);

inline constexpr int64_t kSamples = 64;

/// Map of `pages` pages from `samples` of them, at least 2. More changes than a quarter of the
/// samples are taken for interleaving. With at least as many samples as pages it is exact. Fails
/// as `look_up` does.
Result<PageMap> map_pages(int64_t pages, const LookUp& look_up, int64_t samples = kSamples);

}  // namespace haichi::numaio
