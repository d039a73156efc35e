// fread(3): what is in the stream's buffer, then a large read into the program's, then the rest, as
// the GNU C library does it. Its own read does not come by here.
#include <pthread.h>
#include <stdio_ext.h>
#include <wchar.h>

#include "generated/libc_real.h"
#include "numaio/preloaded/hooks.h"

namespace haichi::numaio::preloaded {

#if defined(__GLIBC__)
namespace {

// libio's flags (glibc's libio/libio.h, which is not installed).
constexpr int kUnbuffered = 0x2, kLineBuffered = 0x200, kAtEnd = 0x10, kFailed = 0x20;
constexpr int kHasPutBack = 0x100;
constexpr size_t kLeastBlock = 128;

class Locked {
 public:
  explicit Locked(FILE* stream) : stream_(stream) { flockfile(stream_); }
  ~Locked() { funlockfile(stream_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  FILE* stream_;
};

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Whether the stream is a file's that is being read, with nothing unusual.
bool is_plain(FILE* stream) {
  return (stream->_flags & (kUnbuffered | kLineBuffered | kAtEnd | kFailed | kHasPutBack)) == 0 &&
         fileno_unlocked(stream) >= 0 && __freadable(stream) && !__fwriting(stream) &&
         stream->_IO_save_base == nullptr && fwide(stream, 0) <= 0;
}

/// The stream has nothing in its buffer, and the kernel's position is its own.
void forget_buffer(FILE* stream) {
  char* const base = stream->_IO_buf_base;
  stream->_IO_read_base = stream->_IO_read_ptr = stream->_IO_read_end = base;
  stream->_IO_write_base = stream->_IO_write_ptr = stream->_IO_write_end = base;
}

/// What the library reads past its buffer: blocks of the buffer's size.
size_t direct_part(const FILE* stream, size_t wanted) {
  const auto block = size_t(stream->_IO_buf_end - stream->_IO_buf_base);
  return block >= kLeastBlock ? wanted - wanted % block : wanted;
}

}  // namespace

std::optional<size_t> read_stream(void* data, size_t size, size_t count, FILE* stream) {
  pthread_testcancel();  // as read_parts()
  const Uncancelled whole;
  const Splitting now;
  if (!now.allowed() || !may_split(size * count)) return {};
  const Locked lock(stream);
  if (!is_plain(stream)) return {};
  auto* const to = static_cast<char*>(data);
  const size_t wanted = size * count;
  size_t done = 0;
  // The first read of a stream gives it a buffer.
  if (!stream->_IO_buf_base) done = libc::real().fread_unlocked(to, 1, 1, stream);
  const auto buffered = size_t(stream->_IO_read_end - stream->_IO_read_ptr);
  if (done + buffered < wanted && !is_small(wanted - done - buffered) && stream->_IO_buf_base) {
    if (buffered > 0) done += libc::real().fread_unlocked(to + done, 1, buffered, stream);
    forget_buffer(stream);
    const size_t large = direct_part(stream, wanted - done);
    const auto got = on_read(fileno_unlocked(stream), to + done, large);
    if (got && *got > 0) {
      done += size_t(*got);
      if (stream->_offset >= 0) stream->_offset += *got;
    }
  }
  // The rest, with the stream's marks of an end or an error.
  if (done < wanted) done += libc::real().fread_unlocked(to + done, 1, wanted - done, stream);
  return done / size;
}
#else
std::optional<size_t> read_stream(void*, size_t, size_t, FILE*) { return {}; }
#endif

}  // namespace haichi::numaio::preloaded
