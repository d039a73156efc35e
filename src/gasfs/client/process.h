// This process's arena, and its threads' rings in it.
#pragma once

#include "gasfs/arena/layout.h"
#include "gasfs/arena/reader.h"
#include "gasfs/arena/ring_writer.h"
#include "gasfs/client/descriptors.h"

namespace haichi::gasfs::client {

/// Whether the file system of which a descriptor's device is this one is one of HAICHI_GASFS.
bool is_ours(uint64_t device);
/// Whether HAICHI_GASFS names any: false ends most of what there is to do at an open.
bool any_mounts();

/// A folder that HAICHI_GASFS names, without slashes at its end, and the device of its mount.
struct MountFolder {
  uint16_t length = 0;  // of the path; 0: it is too long, or relative
  uint64_t device = 0;
  char path[128] = {};
};
/// The one that a path is beneath, by its text alone; null if there is none.
const MountFolder* mount_above(const char* path);

/// Gives this process an arena of the mount's dispatcher, if it has none. Does not wait for another
/// thread that is about to. True if there is one.
bool attach_to(const MountFolder& mount);

/// Asks the mount for the file, and its dispatcher for an arena if this process has none yet, and
/// puts the file's slot into a ring. True if the file is attached now; otherwise it is refused.
bool attach(OpenFile& file, int fd);
/// The same, where it is not attached, and asks whether writes may go into rings. True if they may.
bool attach_to_write(OpenFile& file, int fd);

/// The ring of this thread; null if it has none, because the process has no arena (any more), as
/// behind fork(2), or all rings are used. `busy` is set until done(): a signal handler that writes
/// meanwhile gets null.
arena::RingWriter* take_ring();
/// The same for reading, by the box that belongs to the ring.
arena::Reader* take_reader();
void done_with_ring();

/// Whether all of this file goes through the kernel because the dispatcher said so.
bool is_through_kernel(const OpenFile& file);

/// What Arena::names has for this number; 0 where there is no arena, or the dispatcher is gone.
uint32_t lease_of_name(size_t number);

/// Whether this is a child of vfork(2), which has the memory of its parent and descriptors of its
/// own.
bool is_borrowed();

}  // namespace haichi::gasfs::client
