#include "mpiio/agreement/announcement.h"

#include <cstring>
#include <vector>

namespace haichi::mpiio {
namespace {

// What is larger than this in memory is not even tried to encode.
constexpr int64_t kMostTried = 4096;

}  // namespace

Announcement announcement_of(const Access& access) {
  Announcement a = {};
  a.file_size = -1;
  const plan::Extent hull = access.hull();
  a.hull_begin = hull.begin;
  a.hull_end = hull.end;
  a.bytes = access.end() - access.begin();
  a.blocks = access.blocks();
  if (access.empty() || access.footprint() > kMostTried) return a;
  const std::vector<std::byte> encoded = access.encode(access.begin(), access.end());
  if (encoded.size() > sizeof a.encoded) return a;
  a.encoded_size = int64_t(encoded.size());
  memcpy(a.encoded, encoded.data(), encoded.size());
  return a;
}

}  // namespace haichi::mpiio
