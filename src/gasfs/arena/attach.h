// How a program that has a file of the mount open asks for the fast way to read and write it.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace haichi::gasfs::arena {

/// The answer to ioctl(fd, kAttach, &attachment). Who has the descriptor may read by `ticket`, a
/// number that nobody can guess; and write by it behind ioctl(fd, kAttachToWrite, &attachment).
struct Attachment {
  uint32_t magic = 0;    // kMagic
  uint32_t version = 0;  // kVersion
  uint64_t ticket = 0;
  char socket[108] = {};  // of the node's dispatcher (sockaddr_un)
  uint32_t unused = 0;
};
static_assert(sizeof(Attachment) == 128);

inline constexpr uint32_t kMagic = 0x66536147;  // "GaSf"
inline constexpr uint32_t kVersion = 2;
inline constexpr unsigned kAttach = _IOR('h', 0xa1, Attachment);
/// Of a folder: where the dispatcher is, no ticket.
inline constexpr unsigned kFindSocket = _IOR('h', 0xa3, Attachment);
inline constexpr unsigned kAttachToWrite = _IOR('h', 0xa2, Attachment);

}  // namespace haichi::gasfs::arena
