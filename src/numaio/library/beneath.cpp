// The edge to libhaichi-posix.so, which stands in front of a program's reads.
#include "numaio/library/beneath.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>

#include "base/settings.h"
#include "numaio/engine.h"
#include "numaio/file_io.h"
#include "numaio/library/c_edge.h"

namespace {

using namespace haichi::numaio;

haichi_io_real_pread_t* real_pread = nullptr;

class RealOs final : public CacheOs {
 public:
  int64_t pread(int fd, void* data, size_t size, int64_t offset) override {
    const ssize_t got = real_pread(fd, data, size, offset);
    return got < 0 ? -errno : got;
  }
};

RealOs os;

}  // namespace

HAICHI_EXPORTED size_t haichi_io_beneath_begin(haichi_io_real_pread_t* real) {
  real_pread = real;
  const haichi::Settings settings = haichi::Settings::from_environment(environ);
  Options wanted;
  wanted.threads = int(settings.number("io.split_threads"));
  wanted.cold_bytes = settings.number("io.split_from");
  wanted.hot_bytes = std::min(wanted.hot_bytes, wanted.cold_bytes);
  wanted.always = settings.text("io.split") == "always";
  set_options(wanted);
  leave_signals_to_callers();
  return size_t(wanted.hot_bytes);
}

HAICHI_EXPORTED bool haichi_io_beneath_small(size_t size) { return Turn::too_small(int64_t(size)); }

HAICHI_EXPORTED void haichi_io_beneath_end() { end_threads(); }

HAICHI_EXPORTED ssize_t haichi_io_beneath_pread(int fd, void* data, size_t size, off_t offset) {
  return without_exception(
      [&] { return as_system_call(parallel_pread(os, fd, data, int64_t(size), offset)); },
      [&] { return real_pread(fd, data, size, offset); });
}
