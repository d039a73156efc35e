#include "base/unguessable.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

namespace haichi {

uint64_t unguessable_number() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == ssize_t(sizeof number)) return number;
  return uint64_t(clock_ns(CLOCK_REALTIME)) * 0x9e3779b97f4a7c15u + uint64_t(getpid());
}

}  // namespace haichi
