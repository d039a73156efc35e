#include "mpiio/regions/access.h"

#include <errno.h>

#include <cstring>

namespace haichi::mpiio {
namespace {

// Patterns of up to this many bytes are sent whole: a part of it could not save much.
constexpr int64_t kSmallPattern = 16 << 10;

struct Header {
  int64_t origin, first, begin, end;
};

}  // namespace

bool View::sorted(int64_t begin, int64_t end) const {
  if (begin >= end || tile->empty()) return true;
  const bool apart = extent >= tile->end() - tile->begin();
  return tile->sorted() && (apart || begin / tile->size() == (end - 1) / tile->size());
}

Access::Access(const View& view, int64_t begin, int64_t size) {
  const int64_t tile = view.tile->size();
  if (size <= 0 || tile == 0) return;
  // The pattern starts at the tile that holds the first byte, not at the view's first tile, so that
  // its numbers stay small.
  const int64_t skipped = begin / tile;
  const int64_t tiles = (begin + size - 1) / tile - skipped + 1;
  pattern_ = Pattern::loop(view.tile, tiles, view.extent);
  origin_ = view.displacement + skipped * view.extent;
  first_ = skipped * tile;
  begin_ = begin;
  end_ = begin + size;
}

plan::Extent Access::hull() const {
  if (empty()) return {};
  plan::Extent hull{INT64_MAX, INT64_MIN};
  for_each_block(begin_, begin_ + 1, [&](int64_t at, int64_t) { hull.begin = at; });
  for_each_block(end_ - 1, end_, [&](int64_t at, int64_t n) { hull.end = at + n; });
  return hull;
}

int64_t Access::position_of(int64_t offset) const {
  return std::clamp(first_ + pattern_->bytes_below(offset - origin_), begin_,
                    std::max(begin_, end_));
}

void Access::clip(int64_t end_of_file) { end_ = position_of(end_of_file); }

std::vector<std::byte> Access::encode(int64_t from, int64_t to) const {
  from = std::max(from, begin_);
  to = std::min(to, end_);
  Header header{origin_, first_, from, to};
  PatternPtr pattern = pattern_;
  if (pattern->footprint() > kSmallPattern) {
    PatternPtr part = Pattern::part(pattern, from - first_, to - first_);
    if (part->footprint() < pattern->footprint()) {
      pattern = std::move(part);
      header.first = from;
    }
  }
  const std::vector<std::byte> body = pattern->encode();
  std::vector<std::byte> out(sizeof header + body.size());
  memcpy(out.data(), &header, sizeof header);
  memcpy(out.data() + sizeof header, body.data(), body.size());
  return out;
}

Result<Access> Access::decode(std::span<const std::byte> data) {
  PatternPool alone;
  return decode(data, alone);
}

Result<Access> Access::decode(std::span<const std::byte> data, PatternPool& pool) {
  Header header;
  if (data.size() < sizeof header)
    return fail(EBADMSG, "damaged access description from another rank");
  memcpy(&header, data.data(), sizeof header);
  auto pattern = pool.decode(data.subspan(sizeof header));
  if (!pattern) return tl::unexpected(pattern.error());
  Access access;
  access.pattern_ = *pattern;
  access.origin_ = header.origin;
  access.first_ = header.first;
  access.begin_ = header.begin;
  access.end_ = header.end;
  return access;
}

}  // namespace haichi::mpiio
