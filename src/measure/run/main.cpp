// haichi-measure-<flavour>: measures what MPI does on this machine. `haichi measure` starts the one
// for the MPI whose launcher started it; docs/guide/measure.md, docs/man/haichi-measure.1.md.
#include <errno.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "measure/case/cold.h"
#include "measure/case/watch.h"
#include "measure/listing.h"
#include "measure/quick.h"
#include "measure/run/campaign.h"
#include "measure/run/harness_cost.h"
#include "measure/run/health_check.h"
#include "measure/run/launch_record.h"
#include "measure/run/launches.h"
#include "measure/run/options.h"
#include "measure/run/start_choice.h"
#include "measure/scratch.h"
#include "measure/suite/groups.h"
#include "measure/table.h"

namespace haichi::measure {
namespace {

// The value of rank 0 on all.
template <class Value>
Value from_first(Value value) {
  must(MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, MPI_COMM_WORLD));
  return value;
}

std::string text_from_first(std::string text) {
  text.resize(size_t(from_first(int(text.size()))));
  must(MPI_Bcast(text.data(), int(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD));
  return text;
}

// What the words of the command line, and --quick, mean.
Result<std::vector<Chosen>> chosen_by(const Options& options, std::span<const Measurement> all) {
  auto chosen = select(all, options.words);
  if (!chosen || !options.quick) return chosen;
  *chosen = quick_part(*chosen);
  if (chosen->empty())
    return fail(EINVAL,
                "nothing of what was asked for is in the quick part; --quick --list "
                "prints what is");
  return chosen;
}

int list(const Options& options, std::span<const Measurement> all) {
  const auto chosen = chosen_by(options, all);
  if (!chosen) {
    log(LogLevel::error, "{}", chosen.error().text);
    return kUsage;
  }
  const std::string text = options.json ? list_as_json(*chosen) : list_as_text(*chosen);
  fputs(text.c_str(), stdout);
  return 0;
}

// Says what is left out; whether any of it was asked for by its name, or nothing is measured.
bool say_what_is_left(const Plan& plan) {
  bool by_name = plan.points.empty() && !plan.left.empty();
  for (const Left& left : plan.left) {
    by_name = by_name || left.chosen.by_name;
    log(LogLevel::warn, "{}", left.reason);
  }
  return by_name;
}

int repetition_of(const Options& options) { return std::max(options.repetition, 1); }

Result<SamplesFile> open_file(const Options& options, const nlohmann::ordered_json& launch) {
  const std::string path = options.out.empty() ? new_samples_name() : options.out;
  return options.resume
             ? SamplesFile::resume(path, what_must_be_alike(launch), repetition_of(options))
             : SamplesFile::create(path);
}

class Job {
 public:
  Job(const Options& options, std::span<const Chosen> chosen, JobFacts facts, ClockFacts clock)
      : options_(options), chosen_(chosen), facts_(std::move(facts)), clock_(clock) {}

  int run() {
    start_ = choose_start(options_.start, facts_.oversubscribed());
    plan_ = plan_points(chosen_, facts_.shape(), options_.sizes,
                        {start_.start, options_.buffers, options_.spacings});
    const bool leads = facts_.rank == 0;
    int code = 0;
    std::optional<SamplesFile> file;
    if (leads) code = begin(file);
    if (from_first(code >= kMpiFails)) return code;
    drop_what_is_measured(file);
    shuffle(plan_.points, from_first(seed_));
    if (leads) remove_left_over_scratch(options_.directory);
    const std::string scratch = text_from_first(scratch_path(options_.directory));
    Crew crew(plan_.points, scratch, from_first(clock_.cost));
    if (!leads) {
      crew.follow();
      return 0;
    }
    return std::max(code, measure(crew, *file));
  }

 private:
  // Opens the file and writes what is known before anything is measured.
  int begin(std::optional<SamplesFile>& file) {
    seed_ = options_.seed != 0 ? options_.seed : uint64_t(now_ns());
    auto launch = launch_record(facts_, clock_, options_.directory);
    auto opened = open_file(options_, launch);
    if (!opened) {
      log(LogLevel::error, "{}", opened.error().text);
      return kCantWrite;
    }
    file.emplace(std::move(*opened));
    launch_ = file->launches() + 1;
    launch["launch"] = launch_;
    launch["repetition"] = repetition_of(options_);
    launch["seed"] = seed_;
    launch["start"] = text_of(start_.start);
    launch["clock_error"] = start_.clock_error;
    launch["barrier"] = start_.barrier;
    launch["harness_cost"] = harness_seconds();
    launch["within"] = options_.goal.within;
    launch["reference"] = options_.reference || !facts_.oversubscribed();
    if (facts_.oversubscribed())
      log(LogLevel::warn, "more ranks than cores: the file is labelled oversubscribed{}",
          options_.reference ? "" : ", and is no reference (--reference says it is)");
    Status added = file->add(launch);
    for (const Left& left : plan_.left)
      if (added) added = file->add(record_of(left, launch_));
    if (!added) {
      log(LogLevel::error, "{}", added.error().text);
      return kCantWrite;
    }
    return say_what_is_left(plan_) ? kIncomplete : 0;
  }

  // The same points on all ranks: what a file has already is known to rank 0 alone.
  void drop_what_is_measured(const std::optional<SamplesFile>& file) {
    std::vector<char> there(plan_.points.size());
    for (size_t i = 0; file && i < there.size(); ++i)
      there[i] = char(file->measured().count(plan_.points[i].key()));
    must(MPI_Bcast(there.data(), int(there.size()), MPI_CHAR, 0, MPI_COMM_WORLD));
    std::vector<Point> missing;
    for (size_t i = 0; i < there.size(); ++i)
      if (there[i] == 0) missing.push_back(plan_.points[i]);
    plan_.points = std::move(missing);
  }

  int measure(Crew& crew, SamplesFile& file) {
    const auto& points = plan_.points;
    fmt::print(stderr, "haichi measure: {} points, into {}\n", points.size(), file.path());
    Campaign campaign(options_, points, file, launch_);
    const Status measured = campaign.run(crew);
    crew.dismiss();
    // What is one of several launches is printed when all are there.
    if (!options_.one_of_several())
      fputs(table_of(campaign.all_points(), campaign.all_found()).c_str(), stdout);
    if (!measured) log(LogLevel::error, "{}", measured.error().text);
    if (!measured) return kCantWrite;
    return campaign.failed() > 0 ? kIncomplete : 0;
  }

  const Options& options_;
  std::span<const Chosen> chosen_;
  JobFacts facts_;
  ClockFacts clock_;
  StartChoice start_{};
  Plan plan_;
  uint64_t seed_ = 0;
  int launch_ = 1;
};

int measure(const Options& options, std::span<const Measurement> all, double init_seconds) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto chosen = chosen_by(options, all);
  if (!chosen) {
    if (rank == 0) log(LogLevel::error, "{}", chosen.error().text);
    return kUsage;
  }
  auto facts = job_facts(init_seconds, int(sysconf(_SC_NPROCESSORS_ONLN)), !options.unbound);
  if (!facts) {
    if (rank == 0) log(LogLevel::error, "{}", facts.error().text);
    return kMpiFails;
  }
  if (!can_cool() && options.buffers != std::vector{Buffers::hot}) {
    if (rank == 0)
      log(LogLevel::error, "--buffers cold: this processor has no way to empty caches");
    return kUsage;
  }
  set_watch_seconds(options.patience);
  if (options.health) return check_health(options, *facts);
  return Job(options, *chosen, std::move(*facts), clock_facts()).run();
}

// Ends the job from whichever rank an MPI call failed on.
int guarded_measure(const Options& options, std::span<const Measurement> all, double init_seconds) {
  try {
    return measure(options, all, init_seconds);
  } catch (const CallFailed& error) {
    log(LogLevel::error, "an MPI call failed: {}; what was measured before is kept", error.what());
    MPI_Abort(MPI_COMM_WORLD, kMpiFails);
    return kMpiFails;
  }
}

// Takes what stands behind "--" off the command line: the launcher that is to be started.
std::vector<std::string> take_launcher(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  if (dashes == end) return {};
  argc = int(dashes - argv);
  return {dashes + 1, end};
}

int start(int argc, char** argv) {
  set_log(LogLevel::warn, "haichi measure");
  const auto all = catalogue();
  const std::vector<std::string> launcher = take_launcher(argc, argv);
  // What needs no MPI, and asks for none, is answered without it.
  Options options;
  int code = 0;
  if (!read_options(argc, argv, false, options, code) && code == 0) {
    read_options(argc, argv, true, options, code);
    return code;
  }
  if (code == 0 && options.list) return list(options, all);
  if (code == 0 && !launcher.empty())
    return run_launches(options, {argv + 1, argv + argc}, launcher);
  if (code == 0 && options.launches > 1) {
    log(LogLevel::error,
        "--launches wants the launcher behind --: haichi measure --launches 5 -- mpiexec -n 4");
    return kUsage;
  }
  const int64_t begin = now_ns();
  MPI_Init(&argc, &argv);
  const double init_seconds = double(now_ns() - begin) * 1e-9;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  options = {};
  if (read_options(argc, argv, rank == 0, options, code))
    code = guarded_measure(options, all, init_seconds);
  fflush(stdout);
  MPI_Finalize();
  return rank == 0 ? code : 0;
}

}  // namespace
}  // namespace haichi::measure

int main(int argc, char** argv) { return haichi::measure::start(argc, argv); }
