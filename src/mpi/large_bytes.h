// From which size on a message is sent before those are received that a rank could receive first.
#pragma once

#include <cstdint>

namespace haichi::mpi {

/// See "Sends before receives" in docs/notes.md.
inline constexpr int64_t kLargeBytes = 32 << 10;

}  // namespace haichi::mpi
