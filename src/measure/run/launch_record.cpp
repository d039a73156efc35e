#include "measure/run/launch_record.h"

#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "base/clock.h"
#include "base/os.h"
#include "base/utc_text.h"
#include "base/version.h"
#include "measure/file_system.h"
#include "measure/records.h"
#include "mpi/compat/library_version.h"
#include "mpi/job/discover.h"
#include "placement/host.h"

extern char** environ;

namespace haichi::measure {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNano = 1e-9;

std::string first_line(const std::string& path) {
  const std::string text = read_file(path).value_or("");
  return text.substr(0, text.find('\n'));
}

// What version 2 of control groups allows this process; "" where it says nothing.
std::string group_limit(const char* name) {
  std::string own = first_line("/proc/self/cgroup");
  own = own.starts_with("0::") ? own.substr(3) : "";
  const std::string limit = first_line("/sys/fs/cgroup" + own + "/" + name);
  return limit.empty() ? first_line(std::string("/sys/fs/cgroup/") + name) : limit;
}

// Variables by which users tune MPI libraries and what they stand on.
Json tuning() {
  Json found = Json::object();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    for (const char* prefix : {"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPICH_", "MPIR_", "I_MPI_",
                               "MV2_", "UCX_", "FI_", "PSM", "HAICHI_", "LD_PRELOAD="})
      if (line.starts_with(prefix)) {
        const size_t equals = line.find('=');
        found[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
        break;
      }
  }
  return found;
}

bool under_haichi() {
  const char* const preload = getenv("LD_PRELOAD");
  return preload != nullptr && strstr(preload, "libhaichi-") != nullptr;
}

std::string load() {
  const std::string line = first_line("/proc/loadavg");
  return line.substr(0, line.find(' '));
}

// The smallest step of a clock and what reading it takes, from many readings in a row.
template <class Read>
std::pair<double, double> cost_and_resolution(Read read) {
  constexpr int kReadings = 4096;
  std::vector<double> steps;
  double best = 1;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const double begin = read();
    double last = begin;
    for (int i = 0; i < kReadings; ++i) {
      const double now = read();
      if (now > last) steps.push_back(now - last);
      last = now;
    }
    best = std::min(best, (last - begin) / kReadings);
  }
  const double least = steps.empty() ? 1 : *std::min_element(steps.begin(), steps.end());
  return {best, least};
}

Json binding(const JobFacts& job) {
  Json places = Json::array();
  for (const placement::RankPlace& place : job.placement.places())
    places.push_back({{"core", place.core}, {"cores", place.cores}, {"numa", place.numa_node}});
  return places;
}

}  // namespace

bool JobFacts::oversubscribed() const {
  for (int node = 0; node < placement.nodes(); ++node) {
    const auto local = placement.ranks_on(node);
    // Bound ranks share a core if two are bound to the same; others by their number.
    std::map<int, int> bound;
    int cores = 0;
    for (const int each : local) {
      const auto& place = placement.places();
      const int allowed = allowed_cores[size_t(each)];
      cores = std::max(cores, allowed);
      if (allowed == 1 && !place.empty() && ++bound[place[size_t(each)].core] > 1) return true;
    }
    if (bound.empty() && int(local.size()) > cores) return true;
  }
  return false;
}

namespace {

// Placement, and how many cores hosts have and ranks may run on.
Status look_around(JobFacts& facts, int host_cores) {
  auto placement = mpi::discover(MPI_COMM_WORLD);
  if (!placement) return tl::unexpected(placement.error());
  facts.placement = std::move(*placement);
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int mine[2] = {host_cores, allowed};
  std::vector<int> all(2 * size_t(facts.ranks));
  MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
  facts.host_cores.clear();
  facts.allowed_cores.clear();
  for (int i = 0; i < facts.ranks; ++i) {
    facts.host_cores.push_back(all[2 * size_t(i)]);
    facts.allowed_cores.push_back(all[2 * size_t(i) + 1]);
  }
  return {};
}

// Binds this rank to a core of its own if no rank of its node is bound; whether it did.
bool bind_if_unbound(const JobFacts& facts) {
  const auto local = facts.placement.ranks_on(facts.placement.node_of(facts.rank));
  const int cores = facts.host_cores[size_t(facts.rank)];
  const bool unbound = std::all_of(local.begin(), local.end(), [&](int rank) {
    return facts.allowed_cores[size_t(rank)] == cores;
  });
  cpu_set_t set;
  if (!unbound || int(local.size()) > cores || sched_getaffinity(0, sizeof set, &set) != 0)
    return false;
  int left = facts.placement.local_index(facts.rank);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set) || left-- > 0) continue;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
  }
  return false;
}

}  // namespace

Result<JobFacts> job_facts(double init_seconds, int host_cores, bool bind) {
  JobFacts facts;
  MPI_Comm_rank(MPI_COMM_WORLD, &facts.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &facts.ranks);
  if (auto seen = look_around(facts, host_cores); !seen) return tl::unexpected(seen.error());
  int bound = bind && bind_if_unbound(facts) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  facts.bound_here = bound != 0;
  if (facts.bound_here)
    if (auto seen = look_around(facts, host_cores); !seen) return tl::unexpected(seen.error());
  MPI_Allreduce(&init_seconds, &facts.init_seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return facts;
}

ClockFacts clock_facts() {
  const auto own = cost_and_resolution([] { return double(now_ns()) * kNano; });
  const auto wtime = cost_and_resolution([] { return MPI_Wtime(); });
  return {own.first, own.second, wtime.first, wtime.second};
}

Json launch_record(const JobFacts& job, const ClockFacts& clock, const std::string& directory) {
  // Links are followed: what counts is where the bytes are.
  std::error_code ignored;
  const std::string folder = std::filesystem::weakly_canonical(directory, ignored).string();
  utsname system;
  uname(&system);
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  Json nodes = Json::array(), names = Json::array();
  for (int rank = 0; rank < job.ranks; ++rank) nodes.push_back(job.placement.node_of(rank));
  for (int node = 0; node < job.placement.nodes(); ++node)
    names.push_back(job.placement.node_name(node));
  return {{"schema", kSamplesSchema},
          {"kind", "launch"},
          {"haichi", kVersion},
          {"started", utc_text(time(nullptr))},
          {"library", mpi::library_version()},
          {"mpi", fmt::format("{}.{}", version, subversion)},
          {"compiled_for", fmt::format("{}.{}", MPI_VERSION, MPI_SUBVERSION)},
          {"job_ranks", job.ranks},
          {"node_names", names},
          {"nodes_of_ranks", nodes},
          {"binding", binding(job)},
          {"bound_by_haichi", job.bound_here},
          {"host_cores", job.host_cores},
          {"oversubscribed", job.oversubscribed()},
          {"under", under_haichi()},
          {"tuning", tuning()},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"processor", placement::processor_model()},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"load", load()},
          {"directory", folder},
          {"file_system", file_system_of(folder, read_file("/proc/self/mounts").value_or(""))},
          {"cgroup_cpu", group_limit("cpu.max")},
          {"cgroup_memory", group_limit("memory.max")},
          {"init_seconds", job.init_seconds},
          {"clock", "CLOCK_MONOTONIC"},
          {"clock_cost", clock.cost},
          {"clock_resolution", clock.resolution},
          {"wtime_cost", clock.wtime_cost},
          {"wtime_resolution", clock.wtime_resolution}};
}

}  // namespace haichi::measure
