// What the generated table of the C library's functions is made of.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <type_traits>

// One row of functions.txt stands for a function and its 64-bit form.
static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "libhaichi-posix.so is for 64-bit systems");

namespace haichi::libc {

/// A function of the C library: a pointer that leads, until the first call, to what finds it.
template <class Function>
class Entry;

template <class Returns, class... Parameters>
class Entry<Returns(Parameters...)> {
 public:
  using Function = Returns(Parameters...);
  constexpr Entry(Function* first) : pointer_(first) {}  // NOLINT: a row of a table
  Returns operator()(Parameters... arguments) const {
    return pointer_.load(std::memory_order_relaxed)(arguments...);
  }
  void set(Function* found) { pointer_.store(found, std::memory_order_relaxed); }

 private:
  std::atomic<Function*> pointer_;
};

/// In place of a function that this C library does not have: ENOSYS.
template <class Function>
struct missing;

template <class Returns, class... Parameters>
struct missing<Returns(Parameters...)> {
  static Returns call(Parameters...) {
    errno = ENOSYS;
    if constexpr (std::is_pointer_v<Returns>) {
      return nullptr;
    } else if constexpr (!std::is_void_v<Returns>) {
      return Returns(-1);
    }
  }
};

/// Whether a declaration is of the same function; one may promise not to throw.
template <class Listed, class Declared>
inline constexpr bool same_call = std::is_same_v<Listed, Declared>;
template <class Listed, class Returns, class... Parameters>
inline constexpr bool same_call<Listed, Returns(Parameters...) noexcept> =
    std::is_same_v<Listed, Returns(Parameters...)>;

}  // namespace haichi::libc
