// Objects that are stale, because their server was away, written anew from the other copies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gasfs/store/store.h"

namespace haichi::gasfs {

struct StaleCopy {
  Inode inode = 0;
  uint32_t server = 0;
};

/// Writes the object anew, brings it to the disk, and only then forgets that it is stale, so that
/// this may end at any time and be done again. Nobody may serve the stores meanwhile.
Status mend(std::span<const std::unique_ptr<Store>> stores, const StaleCopy& copy);

}  // namespace haichi::gasfs
