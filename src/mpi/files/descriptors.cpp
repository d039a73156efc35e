#include "mpi/files/descriptors.h"

#include <sys/resource.h>

#include <atomic>

namespace haichi::mpi {
namespace {

constinit std::atomic<int> g_taken[DescriptorShare::uses] = {};
// Every process may have so many: the limit need not be asked for.
constexpr int kFewTaken = 8;
constexpr int kLowNumber = 64;

}  // namespace

std::optional<DescriptorShare> DescriptorShare::take(int fd, Use use) {
  const int before = g_taken[use].fetch_add(1);
  rlimit most;
  const bool few = before < kFewTaken && fd < kLowNumber;
  if (few || (getrlimit(RLIMIT_NOFILE, &most) == 0 && rlim_t(before) < most.rlim_cur / 32 &&
              rlim_t(fd) < most.rlim_cur / 4 * 3))
    return DescriptorShare(use);
  --g_taken[use];
  return std::nullopt;
}

DescriptorShare::~DescriptorShare() {
  if (held_) --g_taken[use_];
}

}  // namespace haichi::mpi
