#include "mpi/files/presence.h"

#include <errno.h>
#include <sys/random.h>

#include <atomic>

#include "base/clock.h"
#include "mpi/files/descriptors.h"
#include "mpiio/storage/file_lock.h"

namespace haichi::mpi {
namespace {

constinit std::atomic<bool> g_some_unknown = false;

uint64_t seed() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = uint64_t(now_ns()) * 0x9e3779b97f4a7c15u;
  return number;
}

/// The system is asked once: each further number is the seed's next one, well mixed (the finaliser
/// of MurmurHash3).
int64_t random_slot() {
  static std::atomic<uint64_t> next = seed();
  uint64_t number = next.fetch_add(0x9e3779b97f4a7c15u);
  number = (number ^ (number >> 33)) * 0xff51afd7ed558ccdu;
  number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53u;
  number ^= number >> 33;
  return int64_t(number % uint64_t(mpiio::kSlots - 1)) + 1;
}

}  // namespace

std::unique_ptr<Presence> Presence::enter(const char* path) {
  Os& os = real_os();
  // A FIFO would wait for its other end.
  constexpr int kHow = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int fd = os.open(path, O_RDWR | kHow, 0);
  const bool readable = fd >= 0;
  if (!readable && fd != -ENOENT) fd = os.open(path, O_WRONLY | kHow, 0);
  if (fd < 0) return nullptr;
  auto share = DescriptorShare::take(fd, DescriptorShare::presence);
  if (!share) {
    os.close(fd);
    g_some_unknown.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  struct stat facts;
  const int64_t slot = random_slot();
  const mpiio::AggregatorFile file{.os = &os, .fd = fd, .readable = readable};
  if (os.fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && mpiio::become_present(file, slot))
    return std::unique_ptr<Presence>(new Presence(fd, slot, *std::move(share)));
  os.close(fd);
  return nullptr;
}

bool Presence::some_unknown() { return g_some_unknown.load(std::memory_order_relaxed); }

Presence::~Presence() { real_os().close(fd_); }

}  // namespace haichi::mpi
