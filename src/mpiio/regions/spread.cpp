#include "mpiio/regions/spread.h"

#include <algorithm>
#include <utility>

namespace haichi::mpiio {
namespace {

// How many places of an access are looked at, and about how many of its pieces there.
constexpr int64_t kPlaces = 4, kPieces = 32;

/// What some places of an access have shown.
struct Seen {
  int64_t bytes = 0;   ///< of the access
  int64_t pieces = 0;  ///< that do not touch
  int64_t gaps = 0;    ///< between two pieces of a place
  int64_t holes = 0;   ///< of these, those that end a part
  int64_t filled = 0;  ///< bytes of the others
};

/// Looks at kPieces pieces or some more, from position `from` on and not beyond `to`, by `step`
/// positions.
void look(const Access& access, int64_t from, int64_t to, int64_t step, int64_t hole, Seen& seen) {
  int64_t end = -1;  // of the piece before
  const int64_t enough = seen.pieces + kPieces;
  while (from < to && seen.pieces < enough) {
    const int64_t next = from + std::min(step, to - from);
    access.for_each_block(from, next, [&](int64_t at, int64_t size) {
      const int64_t gap = at - end;
      seen.pieces += end < 0 || gap > 0;
      if (end >= 0 && gap > 0) {
        ++seen.gaps;
        seen.holes += gap >= hole;
        seen.filled += gap >= hole ? 0 : gap;
      }
      end = at + size;
    });
    seen.bytes += next - from;
    from = next;
  }
}

}  // namespace

Spread spread_of(const Access& access, int64_t hole) {
  if (access.empty()) return {};
  const int64_t bytes = access.end() - access.begin();
  const int64_t pieces = std::max<int64_t>(1, access.blocks());
  Seen seen;
  if (pieces <= kPieces) {
    look(access, access.begin(), access.end(), bytes, hole, seen);
  } else {
    const int64_t step = std::max<int64_t>(1, bytes / pieces);
    for (int64_t i = 0, from = access.begin(); i < kPlaces; ++i) {
      const int64_t to = i + 1 == kPlaces ? access.end() : from + bytes / kPlaces;
      look(access, std::exchange(from, to), to, step, hole, seen);
    }
  }
  if (seen.gaps == 0) return {1, bytes};
  const double all_gaps = double(seen.pieces) * double(bytes) / double(seen.bytes) - 1;
  const double share = std::max(1.0, all_gaps / double(seen.gaps));
  return {1 + int64_t(double(seen.holes) * share + 0.5),
          bytes + int64_t(double(seen.filled) * share)};
}

}  // namespace haichi::mpiio
