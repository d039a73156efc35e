// What choosing by trial costs (src/collectives/selection.h): carries out calls of an all-to-all by
// the real selection, with the times that pruning-study has found. Usage:
//
//   regret-study [--noise SIGMA] [--seeds N] [--calls N] < cases of pruning-study
//
// One JSON object a line for each case and MPI library. A regret is the time of all calls over that
// of as many calls of the best algorithm, the library's own among them, less 1. The trials' times
// and the ranks' agreements count, and trials may cost anything, as with collectives.budget=100;
// the first call is the library's, as it is under haichi (docs/guide/collectives.md). With noise
// each call's time is a log-normal draw around the simulated one, the same for all ranks; what is
// added up is the simulated time. Exit code 2 and one line on standard error for a bad argument or
// a damaged line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "collectives/model.h"
#include "collectives/selection.h"
#include "sim/draws.h"

namespace {

using haichi::collectives::Selection;
using Json = nlohmann::ordered_json;

struct Options {
  double noise = 0;  // standard deviation of the logarithm of a call's time
  int seeds = 1, calls = 200;
};

// The candidates that are tried, the library's own first. Seconds.
struct Candidates {
  std::vector<std::string> names;
  std::vector<double> seconds;
  double best;  // of all algorithms, those that are not tried too
  double agreement;
};

// Draws from the standard normal distribution (Box and Muller).
class Normal {
 public:
  explicit Normal(uint64_t seed) : state_(haichi::sim::mixed(seed)) {}
  double next() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  double uniform() { return haichi::sim::unit(haichi::sim::mixed(state_++)); }
  uint64_t state_;
};

// What so many calls came to.
struct Run {
  double seconds = 0;
  int chosen = 0;
  int locked_after = 0;  // calls
};

Run run(const Candidates& candidates, Selection selection, const Options& options, uint64_t seed) {
  Normal normal(seed);
  Run result{candidates.seconds[0]};
  for (int call = 1; call < options.calls; ++call) {
    const double seconds = candidates.seconds[size_t(selection.next())];
    result.seconds += seconds;
    result.locked_after += selection.state() == Selection::State::trying;
    if (!selection.took(seconds * std::exp(options.noise * normal.next()))) continue;
    result.seconds += candidates.agreement;
    const std::vector<double> mean(selection.ballot().begin(), selection.ballot().end());
    selection.agree(mean);
  }
  result.chosen = selection.chosen();
  return result;
}

enum class Tried { kept, kept_by_defaults, all };

// Those of a case that are tried.
Candidates candidates_of(const Json& found, const Json& library, Tried tried) {
  Candidates result{{"library"}, {library["simulated"]}, library["simulated"], found["agreement"]};
  double best = HUGE_VAL;  // by the defaults
  for (const Json& row : found["candidates"])
    best = std::min(best, row["unknown machine"].get<double>());
  for (const Json& row : found["candidates"]) {
    result.best = std::min(result.best, row["simulated"].get<double>());
    if (tried == Tried::kept && !row["kept"].get<bool>()) continue;
    if (tried == Tried::kept_by_defaults &&
        row["unknown machine"].get<double>() > haichi::collectives::kPruneFactorUnknown * best)
      continue;
    result.names.push_back(row["candidate"]);
    result.seconds.push_back(row["simulated"]);
  }
  return result;
}

// The mean over the seeds of the first run, of the second, which begins with the first one's
// choice, and of first runs in which the model knows nothing of the machine, or is not asked.
Json regrets(const Json& found, const std::string& name, const Options& options) {
  const Json& library = found["stock"][name];
  const Candidates kept = candidates_of(found, library, Tried::kept);
  const double least = options.calls * kept.best, share = 1.0 / options.seeds;
  // What trials cost is the question, so nothing bounds it.
  const haichi::collectives::SelectionRules unbounded{.budget = HUGE_VAL};
  const auto begun = [&](const Candidates& of) {
    return Selection(int(of.seconds.size()), unbounded);
  };
  const auto first_run = [&](Tried tried) {
    const Candidates candidates = candidates_of(found, library, tried);
    double seconds = 0;
    for (int seed = 0; seed < options.seeds; ++seed)
      seconds += share * run(candidates, begun(candidates), options, uint64_t(seed)).seconds;
    return seconds / least - 1;
  };
  double second = -1, trials = 0;
  std::string chosen;
  for (int seed = 0; seed < options.seeds; ++seed) {
    const Run first = run(kept, begun(kept), options, uint64_t(seed));
    const auto decided = Selection::decided(int(kept.seconds.size()), first.chosen,
                                            kept.seconds[size_t(first.chosen)], unbounded);
    second += share * run(kept, decided, options, uint64_t(seed)).seconds / least;
    trials += share * first.locked_after;
    if (seed == 0) chosen = kept.names[size_t(first.chosen)];
  }
  return {{"kind", found["kind"]},
          {"job", found["job"]},
          {"bytes", found["bytes"]},
          {"library", name},
          {"noise", options.noise},
          {"default", kept.seconds[0] / kept.best},
          {"first", first_run(Tried::kept)},
          {"second", second},
          {"unknown machine", first_run(Tried::kept_by_defaults)},
          {"no model", first_run(Tried::all)},
          {"trials", trials},
          {"chosen", chosen}};
}

template <class Number>
bool read(std::optional<Number> given, Number least, Number& to) {
  if (!given || *given < least) return false;
  to = *given;
  return true;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return false;
    const bool fine =
        name == "--noise"   ? read(haichi::real_number(argv[i + 1]), 0.0, options.noise)
        : name == "--seeds" ? read(haichi::whole_number(argv[i + 1]), 1, options.seeds)
        : name == "--calls" ? read(haichi::whole_number(argv[i + 1]), 1, options.calls)
                            : false;
    if (!fine) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fputs("usage: regret-study [--noise SIGMA] [--seeds N] [--calls N] < cases\n", stderr);
    return 2;
  }
  std::string line;
  try {
    while (std::getline(std::cin, line)) {
      const Json found = Json::parse(line);
      for (const auto& [name, library] : found["stock"].items())
        std::puts(regrets(found, name, options).dump().c_str());
    }
  } catch (const nlohmann::json::exception& error) {
    std::fprintf(stderr, "regret-study: no case of pruning-study: %s\n", error.what());
    return 2;
  }
  return 0;
}
