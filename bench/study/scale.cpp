// What haichi's choice is worth at sizes that no test machine has: MPI libraries' own algorithms
// for an MPI_Alltoall against the candidates that the model keeps, simulated. Usage:
//
//   scale-study [--tried N] [--ranks N] [--bytes N] [--network NAME]
//
// --tried N leaves of the candidates the N that are predicted best (4; 1 at 4096 ranks, where each
// takes a minute); --ranks, --bytes and --network take one number of ranks, one size or one network
// alone. One JSON object a line for each network, number of ranks and size; seconds. `haichi
// figures scale` runs it and adds up. Exit code 2 and one line on standard error for a bad argument
// or if a simulation fails.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/number_text.h"
#include "collectives/model.h"
#include "jobs.h"
#include "simulated.h"
#include "stock.h"

namespace {

using namespace haichi;
using Json = nlohmann::ordered_json;

constexpr int64_t kSizes[] = {64, 1024, 16384, 1048576};
constexpr int kTried = 4, kManyRanks = 4096;

struct Options {
  int tried = 0, ranks = 0;  // 0: as usual, all
  int64_t bytes = 0;
  std::string network;  // empty: all
};

// A job on each of the networks; all have as many nodes.
struct Shape {
  int nodes, per_node;
  std::vector<int> box;   // 3-D torus
  std::vector<int> part;  // of the 6-D torus below
  const char* switches;   // the fat tree
};

const Shape kShapes[] = {
    {24, 4, {4, 3, 2}, {2, 1, 1, 2, 3, 2}, "fattree:8:2"},
    {96, 4, {6, 4, 4}, {2, 2, 2, 2, 3, 2}, "fattree:16:2"},
    {64, 16, {4, 4, 4}, {4, 4, 1, 2, 1, 2}, "fattree:16:2"},
    {256, 16, {8, 8, 4}, {4, 4, 4, 2, 1, 2}, "fattree:16:2"},
};
const std::vector<int> kSixD = {8, 8, 8, 2, 3, 2};

// 0.3 us of work for a message, as in pruning.cpp.
machine::Machine base() {
  machine::Machine machine;
  machine.send_ns = 100;
  machine.receive_ns = 50;
  machine.match_ns = 150;
  machine.copy_gbs = 10;
  return machine;
}

// Ports and links of 100 Gbit/s on switches; those of the Tofu interconnect on tori.
std::vector<std::pair<std::string, machine::Machine>> machines_of(const Shape& shape) {
  machine::Machine switched = base(), torus = base();
  switched.out_gbs = switched.in_gbs = switched.link_gbs = 12.5;
  torus.out_gbs = torus.in_gbs = 20;
  torus.link_gbs = 5;
  machine::Machine tree = switched, box = torus, six = torus;
  tree.network = shape.switches;
  box.network = "torus:" + study::text(shape.box);
  six.network = "torus:" + study::text(kSixD);
  six.seats = study::box_in(kSixD, shape.part, std::vector<int>(kSixD.size(), 0));
  return {{"crossbar", switched}, {"fat tree 2:1", tree}, {"3-D torus", box}, {"6-D torus", six}};
}

// Simulates each thing once, whoever asks for it.
class Times {
 public:
  Times(const placement::Placement& placement, const machine::Machine& machine, int64_t block)
      : placement_(placement), machine_(machine), block_(block) {}

  // `name` stands for the schedules.
  template <class Algorithm>
  Result<double> of(const std::string& name, const Algorithm& algorithm) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    const auto seconds = study::simulated(placement_, machine_, [&](int rank) {
      return algorithm.schedule({&placement_, rank, block_});
    });
    if (seconds) known_.emplace(name, *seconds);
    return seconds;
  }

 private:
  const placement::Placement& placement_;
  const machine::Machine& machine_;
  const int64_t block_;
  std::map<std::string, double> known_;
};

// The candidates that the model keeps, predicted best first.
std::vector<std::pair<double, collectives::Candidate>> kept(collectives::Traffic& traffic,
                                                            const machine::Machine& machine,
                                                            int64_t block) {
  const auto candidates =
      collectives::default_candidates(traffic.placement(), collectives::Kind::all_to_all, true);
  const auto verdicts = prune(candidates, traffic, collectives::Costs(machine), block);
  std::vector<std::pair<double, collectives::Candidate>> found;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (verdicts[i].kept) found.emplace_back(verdicts[i].seconds, candidates[i]);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

Status run(const std::string& network, const machine::Machine& machine,
           const placement::Placement& placement, int64_t block, int tried) {
  const auto shape = topology::parse_shape(machine.network);
  if (!shape) return tl::unexpected(shape.error());
  auto traffic = collectives::Traffic::make(placement, *shape, machine.seats);
  if (!traffic) return tl::unexpected(traffic.error());
  Times times(placement, machine, block);
  Json rows = Json::array(), libraries = Json::object();
  auto candidates = kept(*traffic, machine, block);
  if (candidates.size() > size_t(tried))
    candidates.erase(candidates.begin() + tried, candidates.end());
  for (const auto& [predicted, candidate] : candidates) {
    const auto seconds = times.of(candidate.text(), candidate);
    if (!seconds) return tl::unexpected(seconds.error());
    rows.push_back(
        {{"candidate", candidate.text()}, {"simulated", *seconds}, {"model", predicted}});
  }
  for (const study::Library library : study::kLibraries) {
    const auto algorithm = study::stock_alltoall(library, placement.ranks(), block);
    const auto seconds = times.of(std::string(algorithm.same_as), algorithm);
    if (!seconds) return tl::unexpected(seconds.error());
    libraries[name_of(library)] = {{"algorithm", algorithm.name}, {"simulated", *seconds}};
  }
  const Json line = {{"network", network},
                     {"machine", machine.network},
                     {"nodes", placement.nodes()},
                     {"ranks", placement.ranks()},
                     {"bytes", block},
                     {"candidates", rows},
                     {"stock", libraries}};
  std::puts(line.dump().c_str());
  std::fflush(stdout);
  return {};
}

template <class Number>
bool read(std::string_view word, Number& to) {
  const auto given = whole_number<Number>(word);
  if (!given || *given < 1) return false;
  to = *given;
  return true;
}

bool read(std::string_view word, std::string& to) {
  to = word;
  return !to.empty();
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return false;
    const bool fine = name == "--tried"     ? read(argv[i + 1], options.tried)
                      : name == "--ranks"   ? read(argv[i + 1], options.ranks)
                      : name == "--bytes"   ? read(argv[i + 1], options.bytes)
                      : name == "--network" ? read(argv[i + 1], options.network)
                                            : false;
    if (!fine) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool any = false;
  const bool fine = read_options(argc, argv, options);
  for (const Shape& shape : kShapes) {
    const auto placement = placement::block(shape.nodes, shape.per_node);
    if (!fine || (options.ranks > 0 && options.ranks != placement.ranks())) continue;
    const int usual = placement.ranks() < kManyRanks ? kTried : 1;
    const int tried = options.tried > 0 ? options.tried : usual;
    for (const auto& [network, machine] : machines_of(shape)) {
      if (!options.network.empty() && options.network != network) continue;
      for (const int64_t block : kSizes) {
        if (options.bytes > 0 && options.bytes != block) continue;
        any = true;
        if (const auto done = run(network, machine, placement, block, tried); !done) {
          std::fprintf(stderr, "scale-study: %s: %s\n", network.c_str(), done.error().text.c_str());
          return 2;
        }
      }
    }
  }
  if (!any)
    std::fputs(
        "usage: scale-study [--tried N] [--ranks 96|384|1024|4096] [--bytes 64|1024|16384|1048576] "
        "[--network \"crossbar|fat tree 2:1|3-D torus|6-D torus\"]\n",
        stderr);
  return any ? 0 : 2;
}
