// The C library's reads and writes by their own names: those of an executable that exports them go
// before those of every library, so the MPI library and haichi come here too.
#include "oracle/slow_file.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

#include "oracle/rng.h"

namespace oracle {
namespace {

// In a program that writes, what is read is written back with other bytes in it: that is where
// those of others get lost, so it takes longer.
constexpr int kRead = 3, kWrite = 1;
constexpr int kMost = 10000;  // in all, so that many small pieces take no longer

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::atomic<int> g_percent{0}, g_longest{0}, g_left{0};
std::atomic<uint64_t> g_drawn{0};

void sleep_perhaps(int times = 1) {
  const int percent = times * g_percent.load(std::memory_order_relaxed);
  if (percent == 0) return;
  const uint64_t drawn = mix(g_drawn.fetch_add(1, std::memory_order_relaxed));
  const uint64_t longest = uint64_t(times) * uint64_t(g_longest.load(std::memory_order_relaxed));
  if (int(drawn % 100) >= percent) return;
  const int time = int((drawn >> 32) % (longest + 1));
  if (g_left.fetch_sub(time, std::memory_order_relaxed) >= time) usleep(useconds_t(time));
}

}  // namespace

void slow_files_down(int percent, int longest, uint64_t seed) {
  g_percent = percent;
  g_longest = longest;
  g_left = kMost;
  g_drawn = seed;
}

}  // namespace oracle

// `pwrite(int fd, ...)` and the like; a static local is made once, by whoever comes first.
#define SLOW(name, times, parameters, arguments)                              \
  extern "C" __attribute__((visibility("default"))) ssize_t name parameters { \
    static const auto real = oracle::next<ssize_t(*) parameters>(#name);      \
    oracle::sleep_perhaps();                                                  \
    const ssize_t done = real arguments;                                      \
    oracle::sleep_perhaps(oracle::times);                                     \
    return done;                                                              \
  }
#undef pwrite
#undef pread
#undef pwritev
#undef preadv
SLOW(pwrite, kWrite, (int fd, const void* from, size_t size, off_t at), (fd, from, size, at))
SLOW(pwrite64, kWrite, (int fd, const void* from, size_t size, off64_t at), (fd, from, size, at))
SLOW(pread, kRead, (int fd, void* to, size_t size, off_t at), (fd, to, size, at))
SLOW(pread64, kRead, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at))
SLOW(pwritev, kWrite, (int fd, const iovec* from, int count, off_t at), (fd, from, count, at))
SLOW(pwritev64, kWrite, (int fd, const iovec* from, int count, off64_t at), (fd, from, count, at))
SLOW(preadv, kRead, (int fd, const iovec* to, int count, off_t at), (fd, to, count, at))
SLOW(preadv64, kRead, (int fd, const iovec* to, int count, off64_t at), (fd, to, count, at))
