// What the kernel says and wants to hear in FUSE's protocol, and the libfuse of Debian 12 (3.14)
// passes over. Read from requests and written into replies on their way through fuse_custom_io.
//
// - FUSE_DIRECT_IO_ALLOW_MMAP (Linux 6.6): without it mmap(MAP_SHARED) of a file that bypasses the
//   page cache is ENODEV, and so is sqlite's WAL.
// - FUSE_HANDLE_KILLPRIV_V2: without it the kernel asks for security.capability before each write.
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
#include <sys/types.h>

#include <optional>

namespace haichi::gasfs::fuse {

/// To be given to fuse_session_custom_io.
const fuse_custom_io& watched_io();

/// Whether the request that this thread is answering is to take set-user-ID and set-group-ID bits
/// off its file.
bool kill_privileges_wanted();

/// The permissions of a file without those bits; none if it has none, or is a folder.
std::optional<mode_t> mode_without_privileges(mode_t mode);

/// Whether the kernel of the last mount of this process lets files be mapped.
bool mapping_allowed();

}  // namespace haichi::gasfs::fuse
