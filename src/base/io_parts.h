// Parts of memory for readv(2), writev(2) and sendmsg(2) of which some bytes are done.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace haichi {

/// What is left of the parts behind their first `done` bytes; parts of no bytes before it are left
/// out. The first one that is left is made shorter in place.
inline std::span<iovec> without_first(std::span<iovec> parts, size_t done) {
  while (!parts.empty() && done >= parts.front().iov_len) {
    done -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (done == 0) return parts;
  parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + done;
  parts.front().iov_len -= done;
  return parts;
}

}  // namespace haichi
