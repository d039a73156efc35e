// What stat(2) and statx(2) told of paths of the mount, kept for as long as the dispatcher says
// that it is right.
#pragma once

#include <sys/stat.h>

#include <optional>

namespace haichi::gasfs::client {

/// Tells of a path that is asked for again and again; nothing where the kernel is to be asked.
std::optional<int> stat_of_name(const char* path, struct stat& about);
/// The same as statx(2) tells it, for any mask of kStatxKept.
std::optional<int> statx_of_name(const char* path, struct statx& about);

/// What the kernel tells of a file on the mount whatever of it a mask asks for.
inline constexpr unsigned kStatxKept = STATX_BASIC_STATS | STATX_BTIME;

}  // namespace haichi::gasfs::client
