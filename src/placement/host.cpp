#include "placement/host.h"

#include <dirent.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "base/os.h"

namespace haichi::placement {
namespace {

// Kernels are built for at most 8,192 cores; this leaves room.
constexpr int kMostCores = 65'536;

uint64_t fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Empty where it can't be read.
std::string boot_id() {
  return read_file("/proc/sys/kernel/random/boot_id").value_or(std::string());
}

}  // namespace

uint64_t host_identity(std::string_view name, std::string_view boot_id) {
  // The byte between the two keeps ("ab", "c") and ("a", "bc") apart.
  uint64_t hash = fnv1a(name, 0xcbf29ce484222325);
  hash = fnv1a(std::string_view("\0", 1), hash);
  return fnv1a(boot_id, hash);
}

Host this_host() {
  utsname names = {};
  uname(&names);
  return {names.nodename, host_identity(names.nodename, boot_id())};
}

uint64_t this_kernel() {
  const std::string id = boot_id();
  return id.empty() ? 0 : host_identity("", id);
}

std::string processor_model() {
  // Line by line: the kernel makes the text of a large host processor by processor, and the first
  // one says it.
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "";
}

std::string this_address() {
  for (const char* name : {"HAICHI_NODE_ADDRESS", "SLURM_TOPOLOGY_ADDR"})
    if (const char* const value = getenv(name); value && *value) return value;
  return "";
}

int numa_node_of(int core, const std::string& cpus) {
  // The folder of a core holds a link "node<n>" to its NUMA node.
  const std::string folder = fmt::format("{}/cpu{}", cpus, core);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries) return -1;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name(entry->d_name);
    if (!name.starts_with("node")) continue;
    int node = -1;
    const auto [end, error] = std::from_chars(name.data() + 4, name.data() + name.size(), node);
    if (error == std::errc() && end == name.data() + name.size() && node >= 0) return node;
  }
  return -1;
}

std::vector<int> allowed_cores() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::vector<int> found;
  // As large a set as the kernel asks for: EINVAL says that its own is larger.
  for (int size = 1024; size <= kMostCores; size *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(size_t(size));
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(size_t(size)));
    if (!set) break;
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno != EINVAL) break;
      continue;
    }
    for (int core = 0; core < size; ++core)
      if (CPU_ISSET_S(size_t(core), bytes, set.get())) found.push_back(core);
    break;
  }
  return found;
}

RankPlace this_place() {
  RankPlace place;
  const std::vector<int> cores = allowed_cores();
  if (cores.empty()) return place;
  place.cores = int(cores.size());
  place.core = cores.front();
  place.numa_node = numa_node_of(place.core);
  return place;
}

}  // namespace haichi::placement
