// haichi measure --numa: the path matrix of this machine (machine/numa_paths.h), by copies from the
// memory of one node to that of another, made by threads of a third. Into a profile that is there,
// or as one of its own.
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/os.h"
#include "base/utc_text.h"
#include "base/version.h"
#include "machine/numa_paths.h"
#include "machine/profile.h"
#include "numaio/host_nodes.h"
#include "numaio/run/commands.h"
#include "placement/host.h"

namespace haichi::numaio {
namespace {

using nlohmann::ordered_json;

// memcpy() reads each line that it writes to.
constexpr double kWriteWeight = 2;

struct Asked {
  std::string out;
  double seconds = 0.03;   // of each measurement
  int64_t megabytes = 32;  // of a thread's memory, each side
};

// Memory on one node, or none if the node gives none.
class NodeMemory {
 public:
  NodeMemory(int node, size_t bytes) : bytes_(bytes) {
    void* const made =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return;
    data_ = static_cast<char*>(made);
    unsigned long mask = 1ul << node;
    if (mbind(data_, bytes, MPOL_BIND, &mask, sizeof mask * 8, 0) != 0 && node != 0) {
      release();
      return;
    }
    memset(data_, 1, bytes);
  }
  ~NodeMemory() { release(); }
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  char* data() const { return data_; }

 private:
  void release() {
    if (data_ != nullptr) munmap(data_, bytes_);
    data_ = nullptr;
  }
  size_t bytes_;
  char* data_ = nullptr;
};

// One thread of a measurement.
struct Mover {
  int source, cpu, target;
};

void run_on(int cpu) {
  const size_t bytes = CPU_ALLOC_SIZE(size_t(cpu) + 1);
  cpu_set_t* const set = CPU_ALLOC(size_t(cpu) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(size_t(cpu), bytes, set);
  sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}

// Whole MiB for each thread, so that all of them take a quarter of what a node has free at most.
size_t memory_of_each(const std::vector<Mover>& movers, const Asked& asked) {
  int64_t mebibytes = asked.megabytes;
  for (const Mover& each : movers)
    for (const int node : {each.source, each.target}) {
      long long free = -1;
      if (numa_available() < 0 || numa_node_size64(node, &free) < 0 || free < 0) continue;
      mebibytes = std::min<int64_t>(mebibytes, (free >> 20) / 8 / int64_t(movers.size()));
    }
  return size_t(std::max<int64_t>(mebibytes, 1)) << 20;
}

// GB/s that these threads copy together; 0 if a node has no memory for them. The best of three.
double copied_gbs(const std::vector<Mover>& movers, const Asked& asked) {
  const size_t bytes = memory_of_each(movers, asked);
  std::atomic<int> ready = 0, failed = 0;
  std::atomic<int64_t> total[3] = {0, 0, 0};
  std::atomic<bool> go[3] = {false, false, false};
  std::vector<std::thread> threads;
  for (const Mover& each : movers)
    threads.emplace_back([&, each] {
      run_on(each.cpu);
      const NodeMemory from(each.source, bytes), to(each.target, bytes);
      if (from.data() == nullptr || to.data() == nullptr) ++failed;
      for (int round = 0; round < 3; ++round) {
        ++ready;
        while (!go[round]) std::this_thread::yield();
        if (failed > 0) continue;
        const int64_t begin = now_ns();
        int64_t moved = 0;
        for (; double(now_ns() - begin) < asked.seconds * 1e9; moved += 1 << 20)
          memcpy(to.data() + moved % int64_t(bytes), from.data() + moved % int64_t(bytes), 1 << 20);
        total[round] += int64_t(double(moved) / (double(now_ns() - begin) / 1e9));
      }
    });
  for (int round = 0; round < 3; ++round) {
    while (ready < int(movers.size()) * (round + 1)) std::this_thread::yield();
    go[round] = true;
  }
  for (std::thread& each : threads) each.join();
  return double(std::max({total[0].load(), total[1].load(), total[2].load()})) / 1e9;
}

class Matrix {
 public:
  Matrix(HostNodes nodes, const Asked& asked)
      : nodes_(std::move(nodes)),
        asked_(asked),
        paths_(machine::assumed_paths(nodes_.cores(), nodes_.distances)) {}

  machine::NumaPaths measure() {
    paths_.set_write_weight(kWriteWeight);
    for (int t = 0; t < nodes_.nodes(); ++t)
      for (int s = 0; s < nodes_.nodes(); ++s)
        for (int d = 0; d < nodes_.nodes(); ++d) measure_path(s, t, d);
    for (int node = 0; node < nodes_.nodes(); ++node) measure_node(node);
    return paths_;
  }

 private:
  // Paths of like distances are measured once: a machine of 16 nodes has 4096 of them.
  void measure_path(int s, int t, int d) {
    if (nodes_.cpus[size_t(t)].empty()) return;
    // On few nodes each path is its own kind: links may differ that are told as equally far.
    const int own = nodes_.nodes() <= 4 ? 1 + s + 4 * t + 16 * d : 0;
    const std::array<int, 4> kind = {paths_.distance(t, s), paths_.distance(t, d),
                                     int(machine::route_of(s, t, d)), own};
    const auto [at, fresh] = known_.try_emplace(kind, 0.0);
    if (fresh) at->second = copied_gbs({{s, nodes_.cpus[size_t(t)].front(), d}}, asked_);
    if (at->second > 0) paths_.set_thread_gbs(s, t, d, at->second);
    fprintf(stderr, "threads of node %d, from %d to %d: %.2f GB/s\n", t, s, d, at->second);
  }

  // What all threads of a node move in its memory, and all others out of it to their own.
  void measure_node(int node) {
    const auto own = size_t(node);
    std::vector<Mover> local, remote;
    double best = 0;
    for (const int cpu : nodes_.cpus[own]) {
      local.push_back({node, cpu, node});
      // Doubled numbers of threads will do: more of them may be slower.
      const bool look =
          (local.size() & (local.size() - 1)) == 0 || local.size() == nodes_.cpus[own].size();
      if (look) best = std::max(best, copied_gbs(local, asked_));
    }
    for (int other = 0; other < nodes_.nodes(); ++other)
      if (other != node && nodes_.memory[size_t(other)])
        for (const int cpu : nodes_.cpus[size_t(other)]) remote.push_back({node, cpu, other});
    const double served = remote.empty() ? 0 : copied_gbs(remote, asked_);
    if (best > 0) paths_.set_memory_gbs(node, (1 + kWriteWeight) * best);
    if (served > 0)
      paths_.set_served_gbs(node, served);
    else if (best > 0)
      paths_.set_served_gbs(node, best);  // nobody else is there to be served
    fprintf(stderr, "memory of node %d: %.2f GB/s copied by its own threads, %.2f by others\n",
            node, best, served);
  }

  HostNodes nodes_;
  const Asked& asked_;
  machine::NumaPaths paths_;
  std::map<std::array<int, 4>, double> known_;
};

ordered_json new_profile(const HostNodes& nodes) {
  return {
      {"schema", machine::kSchema2},
      {"name", "NUMA nodes of " + placement::this_host().name},
      {"made",
       {{"by", fmt::format("haichi measure --numa {}", kVersion)},
        {"when", utc_text(time(nullptr))},
        {"from", ordered_json::array()},
        {"launches", 1}}},
      {"signature", {{"processor", placement::processor_model()}, {"cores", nodes.processors()}}},
      {"source", "measured"},
      {"network", "crossbar"},
      {"numbers", ordered_json::object()}};
}

// The profile that is there, or a new one.
Result<ordered_json> profile_at(const std::string& path, const HostNodes& nodes) {
  if (path.empty() || access(path.c_str(), F_OK) != 0) return new_profile(nodes);
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  if (const auto profile = machine::parse_profile(*text); !profile)
    return fail(EINVAL, "{}: {}", path, profile.error().text);
  ordered_json found = ordered_json::parse(*text, nullptr, false);
  if (found.value("schema", "") != machine::kSchema2)
    return fail(EINVAL, "{}: only {} can have NUMA nodes", path, machine::kSchema2);
  return found;
}

}  // namespace

int measure_command(const Words& words) {
  Asked asked;
  CLI::App app("Measures what moving bytes between the NUMA nodes of this machine costs.",
               "haichi measure --numa");
  app.add_option("-o,--out", asked.out,
                 "The profile to put it into, or to make (haichi.machine/2); else it is printed");
  app.add_option("--seconds", asked.seconds, "Of each of the measurements' three rounds")
      ->check(CLI::Range(0.001, 10.0))
      ->capture_default_str();
  app.add_option("--mebibytes", asked.megabytes, "Of a thread's memory, each side")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  if (const int code = parse_words(app, words); code >= 0) return code;
  const HostNodes nodes = this_hosts_nodes();
  auto profile = profile_at(asked.out, nodes);
  if (!profile) return refuse(kBadInput, "measure --numa: " + profile.error().text);
  (*profile)["numa"] = machine::numa_json(Matrix(nodes, asked).measure());
  const std::string text = profile->dump(1) + "\n";
  if (asked.out.empty()) {
    printf("%s", text.c_str());
    return 0;
  }
  const auto written = write_file_atomically(asked.out, text);
  if (!written) return refuse(kFailed, "measure --numa: " + written.error().text);
  printf("%s\n", asked.out.c_str());
  return 0;
}

}  // namespace haichi::numaio
