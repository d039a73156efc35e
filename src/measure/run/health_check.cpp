#include "measure/run/health_check.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/utc_text.h"
#include "base/version.h"
#include "measure/case/must.h"
#include "measure/case/watch.h"
#include "measure/health_record.h"
#include "measure/run/quiet_wait.h"
#include "measure/run/shift_rounds.h"
#include "measure/suite/computation.h"
#include "measure/table.h"
#include "mpi/compat/library_version.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr double kBudget = 45;  // seconds, unless --budget says
constexpr int kFewestVisits = 3, kMostVisits = 9;

// What may be called slow. Latencies differ most by what has nothing to do with a link.
constexpr double kSlowLink = 0.15, kSlowLatency = 0.5, kSlowCompute = 0.15, kSlowCopy = 0.25;

constexpr int64_t kFirstBytes = 64 << 10, kFewestBytes = 256 << 10, kMostBytes = 16 << 20;
constexpr double kTransferSeconds = 0.04;  // at least; long against a scheduler's slice
constexpr int kFewestRepeats = 3, kMostRepeats = 9;
constexpr int64_t kLatencyBytes = 8;
constexpr int kLatencyRepeats = 15;
constexpr int64_t kCopyBytes = 8 << 20;
constexpr int kComputeRepeats = 20, kCopyRepeats = 8;

// The least of several times: what it takes where nothing gets in between.
template <class Work>
double least_seconds(int repeats, Work work) {
  double least = 0;
  for (int i = 0; i < repeats; ++i) {
    const int64_t begin = now_ns();
    work();
    const double seconds = double(now_ns() - begin) * kNano;
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

double least(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

// A few hundred microseconds of dependent additions and multiplications in registers.
double compute_seconds() {
  return least_seconds(kComputeRepeats, [] { compute(100'000); });
}

double copy_seconds(std::vector<char>& from, std::vector<char>& to) {
  return least_seconds(kCopyRepeats, [&] {
    memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

// So large that it takes a while, and how often.
struct Amount {
  int64_t bytes;
  int repeats;
};
Amount amount_for(double seconds_of_first) {
  const double per_byte = std::max(seconds_of_first, kNano) / double(kFirstBytes);
  const auto wanted = int64_t(std::min(kTransferSeconds / per_byte, double(kMostBytes)));
  const auto bytes = std::max(kFewestBytes, int64_t(std::bit_floor(uint64_t(wanted))));
  const double often = kTransferSeconds / (per_byte * double(bytes));
  return {bytes, int(std::clamp(often, double(kFewestRepeats), double(kMostRepeats)))};
}

std::vector<std::string> names_of(const JobFacts& job, bool nodes) {
  std::vector<std::string> names;
  if (nodes)
    for (int node = 0; node < job.placement.nodes(); ++node)
      names.push_back(job.placement.node_name(node));
  else
    for (int rank = 0; rank < job.ranks; ++rank) names.push_back(fmt::format("rank {}", rank));
  return names;
}

// A record may take the place of an older one, but of nothing else. Its folder gets a new file,
// unless it is written into what is there, such as a FIFO or /dev/stdout.
Status may_write(const std::string& path) {
  if (path.empty()) return {};
  std::error_code unknown;
  const auto there_is = std::filesystem::symlink_status(path, unknown);
  const bool in_place =
      std::filesystem::is_symlink(there_is) || std::filesystem::is_other(there_is);
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!in_place && access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(errno, "{} cannot be written: {}: {}", path, folder.string(), strerror(errno));
  const auto there = read_file(path);
  if (!there || there->empty() || there->find(kHealthSchema) != there->npos) return {};
  return fail(EEXIST, "{} is there already and no {}: --out names another file", path,
              kHealthSchema);
}

// Everything that is measured, visit by visit; the times come together on rank 0.
class Visitor {
 public:
  explicit Visitor(const JobFacts& job) : job_(job) {
    const bool nodes = job.placement.nodes() > 1;
    checkup_.nodes = nodes;
    checkup_.names = names_of(job, nodes);
    for (int rank = 0; rank < job.ranks; ++rank)
      checkup_.member_of_rank.push_back(nodes ? job.placement.node_of(rank) : rank);
    const int mine = checkup_.member_of_rank[size_t(job.rank)];
    const bool takes_part = !nodes || job.placement.ranks_on(mine).front() == job.rank;
    must(MPI_Comm_dup(MPI_COMM_WORLD, &control_));
    must(MPI_Comm_split(control_, takes_part ? 0 : MPI_UNDEFINED, mine, &members_));
    distances_ = shift_distances(checkup_.members());
    for (auto* shifts : {&bandwidth_, &latency_})
      for (const int distance : distances_) shifts->push_back({distance, {}});
  }
  ~Visitor() {
    if (members_ != MPI_COMM_NULL) MPI_Comm_free(&members_);
    MPI_Comm_free(&control_);
  }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  // Makes connections, and finds out how much to send.
  void warm_up() {
    double seconds = 0;
    if (members_ != MPI_COMM_NULL) {
      ShiftRounds rounds(members_);
      std::vector<double> mine;
      for (int i = 0; i < 2; ++i)
        for (const int distance : distances_)
          mine.push_back(middle(rounds.times(distance, kFirstBytes, kFewestVisits)));
      const double last = middle({mine.end() - ptrdiff_t(distances_.size()), mine.end()});
      must(MPI_Allreduce(&last, &seconds, 1, MPI_DOUBLE, MPI_MIN, members_));
    }
    gather_quietly(control_);
    must(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, control_));
    amount_ = amount_for(seconds);
  }

  void visit(int number) {
    keep_watch("--health");
    add_own(compute_, compute_seconds());
    add_own(copy_, copy_seconds(from_, to_));
    if (members_ != MPI_COMM_NULL) {
      ShiftRounds rounds(members_);
      // Another one comes first each time.
      for (size_t i = 0; i < distances_.size(); ++i) {
        const size_t round = (i + size_t(number)) % distances_.size();
        const int distance = distances_[round];
        add_link(bandwidth_[round], least(rounds.times(distance, amount_.bytes, amount_.repeats)));
        add_link(latency_[round], least(rounds.times(distance, kLatencyBytes, kLatencyRepeats)));
      }
    }
    end_watch();
    gather_quietly(control_);
  }

  Checkup result(int visits, double took) {
    checkup_.visits = visits;
    checkup_.took = took;
    checkup_.aspects = {{"bandwidth", amount_.bytes, kSlowLink, bandwidth_, {}},
                        {"latency", kLatencyBytes, kSlowLatency, latency_, {}},
                        {"compute", 0, kSlowCompute, {}, compute_},
                        {"copy", kCopyBytes, kSlowCopy, {}, copy_}};
    return checkup_;
  }

  int members() const { return checkup_.members(); }
  bool nodes() const { return checkup_.nodes; }
  MPI_Comm control() const { return control_; }

 private:
  void add_own(Visits& visits, double mine) {
    std::vector<double> all(size_t(job_.ranks));
    must(MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, control_));
    visits.push_back(std::move(all));
  }
  void add_link(Shift& shift, double mine) {
    std::vector<double> all(checkup_.names.size());
    must(MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, members_));
    shift.seconds.push_back(std::move(all));
  }

  const JobFacts& job_;
  Checkup checkup_;
  std::vector<int> distances_;
  MPI_Comm control_ = MPI_COMM_NULL, members_ = MPI_COMM_NULL;
  Amount amount_{};
  std::vector<Shift> bandwidth_, latency_;
  Visits compute_, copy_;
  std::vector<char> from_ = std::vector<char>(size_t(kCopyBytes), 1);
  std::vector<char> to_ = std::vector<char>(size_t(kCopyBytes), 1);
};

// As many visits as there is time for; 0 if that is too few.
int visit_all(Visitor& visitor, double budget, int64_t begin_ns) {
  int visits = 0;
  for (int more = 1; more != 0;) {
    const int64_t visit_ns = now_ns();
    visitor.visit(visits++);
    const double elapsed = double(now_ns() - begin_ns) * kNano;
    const double one = double(now_ns() - visit_ns) * kNano;
    if (visits < kFewestVisits)
      more = elapsed + one * (kFewestVisits - visits) <= budget;
    else
      more = visits < kMostVisits && elapsed + one <= budget;
    must(MPI_Bcast(&more, 1, MPI_INT, 0, visitor.control()));
  }
  return visits < kFewestVisits ? 0 : visits;
}

Status write_record(const std::string& path, const JobFacts& job, const Health& health,
                    const Checkup& checkup) {
  auto record = health_record(health, checkup);
  record["haichi"] = kVersion;
  record["started"] = utc_text(time(nullptr) - int64_t(checkup.took));
  record["library"] = mpi::library_version();
  record["oversubscribed"] = job.oversubscribed();
  return write_file_atomically(
      path, record.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

int say(const Options& options, const JobFacts& job, const Checkup& checkup) {
  const Health health = judge(checkup);
  std::string text = health_table(health, checkup);
  for (const Finding& finding : health.findings) text += sentence(finding, checkup) + "\n";
  if (health.findings.empty())
    text += checkup.nodes
                ? fmt::format("fine: none of {} nodes and their links is slower than its peers\n",
                              checkup.members())
                : fmt::format("fine: one node, and none of its {} ranks is slower than its peers\n",
                              checkup.members());
  fputs(text.c_str(), stdout);
  if (!options.out.empty())
    if (const Status written = write_record(options.out, job, health, checkup); !written) {
      log(LogLevel::error, "{}", written.error().text);
      return kCantWrite;
    }
  return health.findings.empty() ? kFine : kSlow;
}

}  // namespace

int check_health(const Options& options, const JobFacts& job) {
  const bool leads = job.rank == 0;
  if (job.ranks == 1) {
    log(LogLevel::error, "--health compares nodes, or ranks on one node: there is one rank");
    return kUnknown;
  }
  int writable = 1;
  if (const Status may = leads ? may_write(options.out) : Status(); !may) {
    log(LogLevel::error, "{}", may.error().text);
    writable = 0;
  }
  must(MPI_Bcast(&writable, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (writable == 0) return leads ? kCantWrite : 0;
  const int64_t begin = now_ns();
  const double budget = options.budget > 0 ? options.budget : kBudget;
  Visitor visitor(job);
  visitor.warm_up();
  if (leads)
    fmt::print(stderr, "haichi measure: health of {} {}, {} at most\n", visitor.members(),
               visitor.nodes() ? "nodes" : "ranks on one node", duration(budget));
  const int visits = visit_all(visitor, budget, begin);
  if (!leads) return 0;
  const double took = double(now_ns() - begin) * kNano;
  if (visits == 0) {
    log(LogLevel::error, "{} are too short for {} visits, and fewer say nothing: --budget {}",
        duration(budget), kFewestVisits, int(took * kFewestVisits) + 1);
    return kUnknown;
  }
  return say(options, job, visitor.result(visits, took));
}

}  // namespace haichi::measure
