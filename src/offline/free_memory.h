// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi::offline {

/// Bytes: the least of what the system has, the job's control group allows and the process's own
/// limit (ulimit -v) leaves. Nothing if none of them is known.
std::optional<int64_t> free_memory();

}  // namespace haichi::offline
