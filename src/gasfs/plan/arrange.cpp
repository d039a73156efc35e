#include "gasfs/plan/arrange.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

namespace haichi::gasfs {
namespace {

/// Takes bytes by ascending offset and makes runs of them.
class Runs {
 public:
  Runs(const Layout& layout, bool merge) : layout_(layout), merge_(merge) {}

  void put(uint64_t offset, uint64_t source, uint64_t length) {
    while (length > 0) {
      const uint64_t part = std::min(length, left_in_stripe(layout_, offset));
      put_in_stripe(offset, source, part);
      offset += part;
      source += part;
      length -= part;
    }
  }

  Arranged take() { return std::move(made_); }

 private:
  void put_in_stripe(uint64_t offset, uint64_t source, uint64_t length) {
    const bool goes_on = merge_ && !made_.runs.empty() &&
                         made_.runs.back().offset + made_.runs.back().length == offset &&
                         offset % layout_.stripe != 0;
    if (!goes_on)
      made_.runs.push_back({offset, 0, server_of(layout_, offset), 0, made_.pieces.size()});
    Run& run = made_.runs.back();
    run.length += length;
    if (run.pieces > 0 && made_.pieces.back().source + made_.pieces.back().length == source) {
      made_.pieces.back().length += length;
      return;
    }
    made_.pieces.push_back({source, length});
    ++run.pieces;
  }

  const Layout layout_;
  const bool merge_;
  Arranged made_;
};

/// The numbers of requests that have bytes, by offset and then by arrival.
std::vector<size_t> by_offset(std::span<const Request> requests) {
  std::vector<size_t> order;
  order.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i].length > 0) order.push_back(i);
  const auto before = [&](size_t a, size_t b) { return requests[a].offset < requests[b].offset; };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::stable_sort(order.begin(), order.end(), before);
  return order;
}

}  // namespace

Arranged arrange(std::span<const Request> requests, const Layout& layout) {
  const std::vector<size_t> order = by_offset(requests);
  Runs runs(layout, true);
  const auto end_of = [&](size_t i) { return requests[i].offset + requests[i].length; };
  // A line sweeps over the file: `over` has the requests under it, the last to arrive on top.
  std::priority_queue<size_t> over;
  uint64_t at = 0;
  for (size_t next = 0; next < order.size() || !over.empty();) {
    if (over.empty()) at = std::max(at, requests[order[next]].offset);
    while (next < order.size() && requests[order[next]].offset <= at) over.push(order[next++]);
    while (!over.empty() && end_of(over.top()) <= at) over.pop();
    if (over.empty()) continue;
    const Request& top = requests[over.top()];
    const uint64_t comes =
        next < order.size() ? requests[order[next]].offset : std::numeric_limits<uint64_t>::max();
    const uint64_t until = std::min(top.offset + top.length, comes);
    runs.put(at, top.source + (at - top.offset), until - at);
    at = until;
  }
  return runs.take();
}

Arranged cut_only(std::span<const Request> requests, const Layout& layout) {
  Runs runs(layout, false);
  for (const Request& request : requests) runs.put(request.offset, request.source, request.length);
  return runs.take();
}

std::vector<Patch> overlay(std::span<const Request> requests, uint64_t offset, uint64_t length) {
  std::vector<Patch> patches;
  for (const Request& request : requests) {
    const uint64_t from = std::max(request.offset, offset);
    const uint64_t until = std::min(request.offset + request.length, offset + length);
    if (from < until)
      patches.push_back({from - offset, request.source + (from - request.offset), until - from});
  }
  return patches;
}

}  // namespace haichi::gasfs
