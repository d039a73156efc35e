#include "numaio/piece.h"

#include <algorithm>
#include <limits>

namespace haichi::numaio {
namespace {

// Walks over a map: what lies at a byte of the transfer, and up to where.
class Walk {
 public:
  Walk(const PageMap& map, int64_t lead, int64_t page_bytes)
      : map_(map), lead_(lead), page_bytes_(page_bytes) {}

  int node() const { return at_ < map_.segments.size() ? map_.segments[at_].node : kUnknown; }
  int64_t end() const {
    if (at_ >= map_.segments.size()) return std::numeric_limits<int64_t>::max();
    const Segment& segment = map_.segments[at_];
    return (segment.first + segment.pages) * page_bytes_ - lead_;
  }
  void past(int64_t byte) {
    while (at_ < map_.segments.size() && end() <= byte) ++at_;
  }

 private:
  const PageMap& map_;
  int64_t lead_, page_bytes_;
  size_t at_ = 0;
};

struct Place {
  int node;   // as in Load
  bool only;  // moved by the threads of that node alone
};

Place place_of(const PageMap& map, int state, const Ends& ends, int nodes) {
  if (map.segments.empty()) return {kFollows, false};
  if (state >= 0 && state < nodes) return {state, false};
  if (state == kInterleaved) return {kSpread, false};
  return {ends.caller_node, state == kUntouched};
}

size_t load_number(std::vector<Load>& loads, Place source, Place target, int caller_node) {
  const int only = source.only || target.only ? caller_node : -1;
  for (size_t k = 0; k < loads.size(); ++k)
    if (loads[k].source == source.node && loads[k].target == target.node && loads[k].only == only)
      return k;
  loads.push_back({source.node, target.node, 0, only});
  return loads.size() - 1;
}

}  // namespace

Demand demand_of(const Ends& ends, int nodes) {
  Demand made;
  Walk source(*ends.source, ends.source_lead, ends.page_bytes);
  Walk target(*ends.target, ends.target_lead, ends.page_bytes);
  for (int64_t begin = 0; begin < ends.bytes;) {
    source.past(begin);
    target.past(begin);
    const int64_t end = std::min({source.end(), target.end(), ends.bytes});
    const size_t load =
        load_number(made.loads, place_of(*ends.source, source.node(), ends, nodes),
                    place_of(*ends.target, target.node(), ends, nodes), ends.caller_node);
    made.loads[load].bytes += double(end - begin);
    if (!made.stretches.empty() && made.stretches.back().load == load)
      made.stretches.back().end = end;
    else
      made.stretches.push_back({begin, end, load});
    begin = end;
  }
  return made;
}

std::vector<std::vector<Piece>> cut(const Demand& demand, const Split& split, int nodes,
                                    int64_t origin, int64_t align, int64_t target_bytes) {
  // Bytes of each load that each node still gets, and whose turn it is.
  std::vector<std::vector<Share>> left(demand.loads.size());
  for (const Share& share : split.shares) left[share.load].push_back(share);
  std::vector<size_t> turn(demand.loads.size(), 0);
  std::vector<std::vector<Piece>> pieces(static_cast<size_t>(nodes));
  // The first border at or behind a byte.
  const auto border = [&](int64_t byte) {
    const int64_t file = origin + byte;
    return (file + align - 1) / align * align - origin;
  };
  for (const Stretch& stretch : demand.stretches) {
    std::vector<Share>& shares = left[stretch.load];
    size_t& who = turn[stretch.load];
    for (int64_t begin = stretch.begin; begin < stretch.end;) {
      while (who + 1 < shares.size() && shares[who].bytes < 1) ++who;
      const bool last = who + 1 == shares.size();
      int64_t bytes = std::min(stretch.end - begin, target_bytes);
      if (!last) bytes = std::min(bytes, int64_t(shares[who].bytes) + 1);
      const int64_t end = std::min(border(begin + bytes), stretch.end);
      pieces[size_t(shares[who].node)].push_back({begin, end - begin});
      shares[who].bytes -= double(end - begin);
      begin = end;
    }
  }
  return pieces;
}

}  // namespace haichi::numaio
