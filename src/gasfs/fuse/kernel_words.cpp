#include "gasfs/fuse/kernel_words.h"

#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace haichi::gasfs::fuse {
namespace {

// Bit 36 of the protocol's flags, from its version 7.39 on.
constexpr uint32_t kAllowMmapInFlags2 = 1u << 4;

// One request at a time is read and answered by each of the mount's threads.
constinit thread_local bool kill_wanted = false;
constinit thread_local uint64_t init_request = 0;
constinit thread_local fuse_init_in offered{};
constinit std::atomic<bool> may_map{false};

/// The part of a request behind its header, as far as it is there.
template <class T>
T body(const char* request, size_t size) {
  T value{};
  if (size > sizeof(fuse_in_header)) {
    memcpy(&value, request + sizeof(fuse_in_header),
           std::min(sizeof value, size - sizeof(fuse_in_header)));
  }
  return value;
}

void look_at(const char* request, size_t size) {
  kill_wanted = false;
  fuse_in_header header{};
  if (size < sizeof header) return;
  memcpy(&header, request, sizeof header);
  if (header.opcode == FUSE_WRITE) {
    kill_wanted = body<fuse_write_in>(request, size).write_flags & FUSE_WRITE_KILL_SUIDGID;
  } else if (header.opcode == FUSE_SETATTR) {
    kill_wanted = body<fuse_setattr_in>(request, size).valid & FATTR_KILL_SUIDGID;
  } else if (header.opcode == FUSE_INIT) {
    init_request = header.unique;
    offered = body<fuse_init_in>(request, size);
  }
}

ssize_t read_request(int fd, void* buffer, size_t room, void*) {
  const ssize_t size = read(fd, buffer, room);
  if (size > 0) look_at(static_cast<const char*>(buffer), size_t(size));
  return size;
}

/// Says yes to those of the kernel's offers that libfuse does not know.
void accept_offers(fuse_init_out& reply) {
  reply.flags |= offered.flags & FUSE_HANDLE_KILLPRIV_V2;
  if (!(offered.flags & FUSE_INIT_EXT)) return;
  reply.flags |= FUSE_INIT_EXT;
  reply.flags2 |= offered.flags2 & kAllowMmapInFlags2;
  may_map = (offered.flags2 & kAllowMmapInFlags2) != 0;
}

ssize_t write_reply(int fd, iovec* parts, int count, void*) {
  if (init_request != 0 && count >= 2 && parts[0].iov_len == sizeof(fuse_out_header)) {
    fuse_out_header header{};
    memcpy(&header, parts[0].iov_base, sizeof header);
    fuse_init_out reply{};
    if (header.unique == init_request && parts[1].iov_len == sizeof reply) {
      memcpy(&reply, parts[1].iov_base, sizeof reply);
      accept_offers(reply);
      memcpy(parts[1].iov_base, &reply, sizeof reply);
      init_request = 0;
    }
  }
  return writev(fd, parts, count);
}

}  // namespace

const fuse_custom_io& watched_io() {
  static const fuse_custom_io io{.writev = write_reply, .read = read_request};
  return io;
}

bool kill_privileges_wanted() { return kill_wanted; }

std::optional<mode_t> mode_without_privileges(mode_t mode) {
  if (S_ISDIR(mode)) return {};
  mode_t without = mode & 07777 & ~mode_t{S_ISUID};
  if (mode & S_IXGRP) without &= ~mode_t{S_ISGID};
  if (without == (mode & 07777)) return {};
  return without;
}

bool mapping_allowed() { return may_map; }

}  // namespace haichi::gasfs::fuse
