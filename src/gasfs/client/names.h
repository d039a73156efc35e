// What stat(2) told of paths of the mount, kept for as long as the dispatcher says that it is
// right.
#pragma once

#include <sys/stat.h>

#include <optional>

namespace haichi::gasfs::client {

/// Tells of a path that is asked for again and again; nothing where the kernel is to be asked.
std::optional<int> stat_of_name(const char* path, struct stat& about);

}  // namespace haichi::gasfs::client
