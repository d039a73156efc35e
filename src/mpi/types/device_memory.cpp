#include "mpi/types/device_memory.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace haichi::mpi {
namespace {

// CUDA's cuPointerGetAttribute and ROCm's hipPointerGetAttribute take the same: where to put the
// answer, which attribute, and the address. Attribute 2 is the type of memory in both.
using Ask = int (*)(void* answer, int attribute, uintptr_t address);
constexpr int kMemoryType = 2;

struct Driver {
  const char* file;  // how the name of its file begins
  const char* function;
  unsigned of_host;  // the type of memory that is the host's
};
// What ROCm says of pinned memory of the host depends on its version: it counts as a device's.
constexpr Driver kDrivers[] = {
    {"libcuda.so", "cuPointerGetAttribute", 1},
    {"libamdhip64.so", "hipPointerGetAttribute", 0},
};

struct Found {
  Ask ask = nullptr;
  unsigned of_host = 0;
};

struct Candidate {
  const Driver* driver = nullptr;
  std::string path;
};

const Driver* driver_of(const char* path) {
  const char* const file = basename(path);
  for (const Driver& each : kDrivers) {
    if (strncmp(file, each.file, strlen(each.file)) == 0) return &each;
  }
  return nullptr;
}

std::vector<Candidate> candidates() {
  std::vector<Candidate> found;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* into) {
        if (const Driver* const driver = driver_of(object->dlpi_name))
          static_cast<std::vector<Candidate>*>(into)->push_back({driver, object->dlpi_name});
        return 0;
      },
      &found);
  return found;
}

// Also where the program, or a library of its, has loaded it for itself alone. By the names of what
// is loaded: dlopen() of a library that isn't there looks for its file in every folder first, also
// with RTLD_NOLOAD, which took longer than many a small access.
Found loaded_driver() {
  for (const Candidate& each : candidates()) {
    void* const library = dlopen(each.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (const auto ask = reinterpret_cast<Ask>(dlsym(library, each.driver->function)))
      return {ask, each.driver->of_host};
  }
  return {};
}

/// How many objects this process has ever loaded.
unsigned long long objects_loaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        *static_cast<unsigned long long*>(into) = info->dlpi_adds;
        return 1;  // the same in all of them
      },
      &count);
  return count;
}

/// Looks again whenever the process has loaded something, until there is one.
const Found* driver() {
  static std::atomic<const Found*> found = nullptr;
  static std::atomic<unsigned long long> looked_at = 0;
  if (const Found* const known = found.load(std::memory_order_acquire)) return known;
  const unsigned long long now = objects_loaded();
  if (looked_at.exchange(now) == now) return nullptr;
  const Found driver = loaded_driver();
  if (driver.ask == nullptr) return nullptr;
  found.store(new Found(driver), std::memory_order_release);
  return found;
}

}  // namespace

bool on_device(const void* address) {
  const Found* const known = driver();
  unsigned type = 0;
  return known && known->ask(&type, kMemoryType, reinterpret_cast<uintptr_t>(address)) == 0 &&
         type != known->of_host;
}

}  // namespace haichi::mpi
