#include "record/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

namespace haichi::record {

Memory::Memory(size_t most) : Memory(most, -1) {}

Memory::Memory(size_t most, int fd)
    : pieces_((most + kPiece - 1) / kPiece), fd_(fd), usable_(pieces_, false) {
  void* const found = mmap(nullptr, pieces_ * kPiece, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found != MAP_FAILED) data_ = static_cast<std::byte*>(found);
  struct stat facts = {};
  if (fd >= 0 && ::fstat(fd, &facts) == 0) {
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
  }
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, pieces_ * kPiece);
  if (fd_ >= 0 && is_ours()) close(fd_);
}

bool Memory::is_ours() const {
  struct stat facts = {};
  return ::fstat(fd_, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
}

bool Memory::from_file(size_t begin) {
  if (!in_file()) return false;
  int error = EBADF;
  if (is_ours()) error = EFBIG;
  if (error == EFBIG && real_os().may_grow_to(int64_t(begin + kPiece)))
    error = posix_fallocate(fd_, off_t(begin), off_t(kPiece));
  if (error == 0 && mmap(data_ + begin, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
                         off_t(begin)) == MAP_FAILED)
    error = errno;
  if (error != 0) why_not_ = strerror(error);
  return error == 0;
}

bool Memory::add_piece(size_t piece) {
  if (usable_[piece]) return true;
  const size_t begin = piece * kPiece;
  usable_[piece] =
      from_file(begin) || mmap(data_ + begin, kPiece, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  return usable_[piece];
}

bool Memory::make_usable(size_t begin, size_t size) {
  const size_t first = begin / kPiece, end = (begin + size + kPiece - 1) / kPiece;
  if (data_ == nullptr || end > pieces_) return false;
  for (size_t piece = first; piece < end; ++piece)
    if (!add_piece(piece)) return false;
  return true;
}

}  // namespace haichi::record
