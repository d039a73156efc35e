// What is done with a preloaded program's calls on files of the mount: small writes go through the
// ring, reads are asked of the dispatcher by the arena, everything else goes the kernel's way,
// slower and right, on the same descriptor (paper 002, section 3.3; docs/adr/0022-two-faces.md).
//
// Each on_NAME gives what the program shall see, or nothing where the real function is to be
// called. What is nothing of ours costs a look at a table.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <optional>
#include <span>

#include "base/anew.h"
#include "gasfs/client/descriptors.h"
#include "gasfs/client/names.h"
#include "gasfs/client/process.h"

namespace haichi::gasfs::client {

std::optional<ssize_t> write_to(OpenFile& file, int fd, const void* data, size_t size);
std::optional<ssize_t> write_parts_to(OpenFile& file, int fd, const iovec* parts, int count,
                                      std::optional<off_t> offset);
std::optional<ssize_t> write_at(OpenFile& file, int fd, const void* data, size_t size,
                                off_t offset);
std::optional<off_t> move_to(OpenFile& file, int fd, off_t offset, int whence);

inline std::optional<ssize_t> on_write(int fd, const void* data, size_t size) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  return anew(write_to(*file, fd, data, size));
}

inline std::optional<ssize_t> on_pwrite(int fd, const void* data, size_t size, off_t offset) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  return anew(write_at(*file, fd, data, size, offset));
}

inline std::optional<ssize_t> on_writev(int fd, const iovec* parts, int count) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  return anew(write_parts_to(*file, fd, parts, count, {}));
}

inline std::optional<ssize_t> on_pwritev(int fd, const iovec* parts, int count, off_t offset) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  return anew(write_parts_to(*file, fd, parts, count, offset));
}

inline std::optional<off_t> on_lseek(int fd, off_t offset, int whence) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  return anew(move_to(*file, fd, offset, whence));
}

/// The kernel is about to use the position of a descriptor.
inline void before_use_of_position(int fd) {
  OpenFile* const file = file_of(fd);
  if (file) leave_position_to_kernel(*file, fd);
}

/// The bytes of all parts; nothing if they can't be moved at once.
std::optional<size_t> size_of(std::span<const iovec> parts);
std::optional<ssize_t> read_parts(OpenFile& file, int fd, std::span<const iovec> parts,
                                  size_t size);
std::optional<ssize_t> read_parts_at(OpenFile& file, int fd, std::span<const iovec> parts,
                                     size_t size, off_t offset);

inline std::optional<ssize_t> on_read(int fd, void* data, size_t size) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  const iovec part{data, size};
  return anew(read_parts(*file, fd, {&part, 1}, size));
}

inline std::optional<ssize_t> on_pread(int fd, void* data, size_t size, off_t offset) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  const iovec part{data, size};
  return anew(read_parts_at(*file, fd, {&part, 1}, size, offset));
}

std::optional<ssize_t> on_readv(int fd, const iovec* parts, int count);
std::optional<ssize_t> on_preadv(int fd, const iovec* parts, int count, off_t offset);

/// Offset -1 means the position. Whatever the flags want is the kernel's.
inline std::optional<ssize_t> on_preadv2(int fd, const iovec* parts, int count, off_t offset,
                                         int flags) {
  if (flags == 0)
    return offset == -1 ? on_readv(fd, parts, count) : on_preadv(fd, parts, count, offset);
  if (offset == -1) before_use_of_position(fd);
  return {};
}

inline std::optional<ssize_t> on_pwritev2(int fd, const iovec* parts, int count, off_t offset,
                                          int flags) {
  if (flags == 0)
    return offset == -1 ? on_writev(fd, parts, count) : on_pwritev(fd, parts, count, offset);
  if (offset == -1) before_use_of_position(fd);
  return {};
}

inline std::optional<int> on_lockf(int fd, int, off_t) {
  before_use_of_position(fd);
  return {};
}

/// The kernel is about to copy from one descriptor to another. It copies as much of a file as it
/// knows of.
void before_copy(int from, int to);

inline std::optional<ssize_t> on_sendfile(int to, int from, off_t*, size_t) {
  before_copy(from, to);
  return {};
}

inline std::optional<ssize_t> on_splice(int from, off_t*, int to, off_t*, size_t, unsigned) {
  before_copy(from, to);
  return {};
}

inline std::optional<ssize_t> on_copy_file_range(int from, off_t*, int to, off_t*, size_t,
                                                 unsigned) {
  before_copy(from, to);
  return {};
}

/// The kernel maps as much of a file as it knows of.
void tell_kernel_of_size(int fd);

inline std::optional<void*> on_mmap(void*, size_t, int, int, int fd, off_t) {
  if (file_of(fd)) tell_kernel_of_size(fd);
  return {};
}

/// Into a struct stat, or a struct stat64, which is the same. What is kept is no symbolic link, and
/// so right for lstat(2) too.
inline std::optional<int> on_stat(const char* path, void* about) {
  if (!path || path[0] != '/' || !about || !any_mounts()) return {};
  return anew(stat_of_name(path, *static_cast<struct stat*>(about)));
}

inline std::optional<int> on_fstatat(int, const char* path, void* about, int flags) {
  if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)) != 0) return {};
  return on_stat(path, about);
}

/// Not where it is asked for something of which the kernel tells only then, or for what may be old.
inline std::optional<int> on_statx(int, const char* path, int flags, unsigned mask, void* about) {
  if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)) != 0) return {};
  if ((mask & ~kStatxKept) != 0 || !path || path[0] != '/' || !about || !any_mounts()) return {};
  return anew(statx_of_name(path, *static_cast<struct statx*>(about)));
}

std::optional<int> on_open(const char* path, int flags, mode_t mode);
std::optional<int> on_openat(int folder, const char* path, int flags, mode_t mode);
std::optional<int> on_creat(const char* path, mode_t mode);

std::optional<int> on_close(int fd);
std::optional<int> on_close_range(unsigned first, unsigned last, int flags);
bool on_closefrom(int first);
std::optional<int> on_dup(int fd);
std::optional<int> on_dup2(int fd, int copy);
std::optional<int> on_dup3(int fd, int copy, int flags);
std::optional<int> on_fcntl(int fd, int command, long argument);
std::optional<FILE*> on_fdopen(int fd, const char* mode);
std::optional<FILE*> on_freopen(const char* path, const char* mode, FILE* stream);
std::optional<ssize_t> on_sendmsg(int socket, const msghdr* message, int flags);

/// Programs that come of this one may have its descriptors.
std::optional<int> on_execve(const char* path, char* const* words, char* const* environment);
std::optional<int> on_spawn();
std::optional<FILE*> on_popen(const char* command, const char* mode);

}  // namespace haichi::gasfs::client
