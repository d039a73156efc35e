#include "numaio/host_nodes.h"

#include <numa.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "placement/host.h"

namespace haichi::numaio {

int HostNodes::processors() const {
  int sum = 0;
  for (const auto& each : cpus) sum += int(each.size());
  return sum;
}

std::vector<int> HostNodes::cores() const {
  std::vector<int> numbers;
  for (const auto& each : cpus) numbers.push_back(int(each.size()));
  return numbers;
}

HostNodes this_hosts_nodes() {
  HostNodes made;
  const bool known = numa_available() >= 0;
  const int nodes = known ? std::clamp(numa_max_node() + 1, 1, machine::kMostNumaNodes) : 1;
  made.cpus.resize(size_t(nodes));
  made.memory.assign(size_t(nodes), !known);
  std::vector<int> allowed = placement::allowed_cores();
  if (allowed.empty()) allowed.push_back(0);
  for (const int cpu : allowed) {
    const int node = known ? numa_node_of_cpu(cpu) : 0;
    made.cpus[size_t(node >= 0 && node < nodes ? node : 0)].push_back(cpu);
  }
  for (int a = 0; a < nodes; ++a) {
    if (known) made.memory[size_t(a)] = numa_bitmask_isbitset(numa_nodes_ptr, unsigned(a)) != 0;
    for (int b = 0; b < nodes; ++b) {
      const int told = known ? numa_distance(a, b) : 0;
      made.distances.push_back(told > 0 ? told : a == b ? 10 : 20);
    }
  }
  return made;
}

int node_now() {
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 ? int(node) : 0;
}

}  // namespace haichi::numaio
