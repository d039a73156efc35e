// How Lustre has striped a file, asked of its own library, which is loaded only if the file is
// there.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi {

struct Striping {
  int64_t unit = 0;   ///< bytes
  int64_t count = 0;  ///< servers (OSTs)
};

/// Nothing if the file is not on Lustre, liblustreapi is not installed (1.0 of its interface:
/// llapi_layout_get_by_fd(3)), or the layout has no stripes of its own. Of a layout of several
/// components it is the last one, where a large file has most of its bytes. Thread-safe.
std::optional<Striping> lustre_striping(int fd);

}  // namespace haichi
