// How many of a process's file descriptors haichi may have. The program and its MPI library come
// first: whoever opens as many files as the limit allows does so with haichi, too.
#pragma once

#include <sys/resource.h>

namespace haichi::mpi {

/// True if a new descriptor is beyond the first eighth of those that the process may have, and so
/// not haichi's to keep. A file has one to be accessed by and, at its first rank, one more to make
/// known that it may be written.
inline bool beyond_share(int fd) {
  constexpr rlim_t kShare = 8;
  rlimit most;
  return getrlimit(RLIMIT_NOFILE, &most) == 0 && rlim_t(fd) >= most.rlim_cur / kShare;
}

}  // namespace haichi::mpi
