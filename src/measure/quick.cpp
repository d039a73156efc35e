#include "measure/quick.h"

#include <algorithm>
#include <string_view>

namespace haichi::measure {
namespace {

constexpr int64_t k1K = 1 << 10, k1M = 1 << 20;

// Of transfers between two ranks many sizes, as curves are made of them; of what follows from those
// a few.
const std::vector<int64_t> kCurve{4,        64,       k1K,       4 * k1K, 8 * k1K, 16 * k1K,
                                  32 * k1K, 64 * k1K, 256 * k1K, k1M,     4 * k1M};
const std::vector<int64_t> kCollective{4, k1K, 16 * k1K, 256 * k1K};
const std::vector<int64_t> kIssue{4, k1K, 4 * k1K};
const std::vector<int64_t> kStream{4, k1K, 16 * k1K, 256 * k1K};
const std::vector<int64_t> kAccess{k1K, 64 * k1K, k1M};
const std::vector<int64_t> kFew{4, 64 * k1K};

// One measurement of the quick part, and the sizes that it is made with; none if it has no size.
struct QuickEntry {
  std::string_view name;
  std::vector<int64_t> sizes;
};

const std::vector<QuickEntry>& table() {
  static const std::vector<QuickEntry> entries{
      {"ping-pong", kCurve},
      {"ping-pong-isend", {4, 64 * k1K}},
      {"bidirectional", {64 * k1K, k1M}},
      {"call-send", kIssue},
      {"call-isend", kIssue},
      {"call-recv", kIssue},
      {"call-irecv", kIssue},
      {"stream", kStream},
      {"stream-pairs", kStream},
      {"pack", {64 * k1K, k1M}},
      {"memory-copy", {k1K, 16 * k1K, 64 * k1K, k1M, 16 * k1M}},
      {"barrier", {}},
      {"bcast", kCollective},
      {"reduce", kFew},
      {"allreduce", kCollective},
      {"allgather", kCollective},
      {"alltoall", kCollective},
      {"alltoallv", kFew},
      {"exchange-isend", {4 * k1K, 256 * k1K}},
      {"put-flush", kFew},
      {"get-flush", kFew},
      {"put-fence", kFew},
      {"fence", {}},
      {"comm-dup", {}},
      {"file-write-at", kAccess},
      {"file-read-at", kAccess},
      {"file-write-at-all", {64 * k1K, k1M}},
      {"file-read-at-all", {64 * k1K, k1M}},
      {"file-write-at-atomic", {k1K}},  // a lock for each
      {"file-sync", {k1M}},
      {"file-open", {}},
      {"file-close", {}},
      {"file-create", {}},
      {"file-delete", {}},
      {"file-set-view-vector", {}},
      {"file-get-size", {}},
  };
  return entries;
}

}  // namespace

std::vector<Chosen> quick_part(std::span<const Chosen> chosen) {
  std::vector<Chosen> part;
  for (const Chosen& each : chosen) {
    const auto entry = std::find_if(
        table().begin(), table().end(),
        [&](const QuickEntry& candidate) { return candidate.name == each.measurement->name; });
    if (entry == table().end()) continue;
    part.push_back(each);
    part.back().sizes = entry->sizes;
  }
  return part;
}

}  // namespace haichi::measure
