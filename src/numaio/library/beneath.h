/* What libhaichi-posix.so calls of libhaichi-io.so, by dlsym(3). Both are of one build. */
#pragma once

#include <sys/types.h>

#include <cstddef>

/// The real pread(2), which this object's own calls shall be, as the name is hooked.
using haichi_io_real_pread_t = ssize_t(int fd, void* data, size_t size, off_t offset);
/// Once, before all others: takes the settings. Returns the least size that is ever split.
using haichi_io_beneath_begin_t = size_t(haichi_io_real_pread_t* real);
/// Whether a read of so many bytes would not be split now; costs nanoseconds.
using haichi_io_beneath_small_t = bool(size_t size);
/// As pread(2).
using haichi_io_beneath_pread_t = haichi_io_real_pread_t;
/// Ends all threads, and waits for that; calls later on make new ones.
using haichi_io_beneath_end_t = void();

#define HAICHI_IO_BENEATH_BEGIN "haichi_io_beneath_begin"
#define HAICHI_IO_BENEATH_SMALL "haichi_io_beneath_small"
#define HAICHI_IO_BENEATH_END "haichi_io_beneath_end"
#define HAICHI_IO_BENEATH_PREAD "haichi_io_beneath_pread"
