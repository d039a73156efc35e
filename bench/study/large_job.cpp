// What agreeing on and planning one collective write in two phases costs each rank of a large job,
// with the very code that ranks run (src/mpiio/agreement/node_agreement.h, node_letters.h,
// two_phase.h) and its messages on the simulator. Usage:
//
//   large-job-study [--ranks N] [--per-node N] [--repetitions N]
//
// One JSON object a line: first what a file of other ranks than the world's costs to open, then for
// each pattern and each kind of rank the processor time, the most memory at a time, and the
// messages of one call in steady state; then the same of all ranks telling all, as small jobs do.
// Processor time is that of this code here (least of the repetitions) and, for messages, what the
// simulated machine (docs/guide/simulation.md) takes for them. Kinds: a plain rank; the speaker of
// a node; an aggregator; of each the one in the middle of the job. Seconds and bytes. Exit code 2
// and one line on standard error for a bad argument or if the simulation fails.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "mpiio/agreement/node_agreement.h"
#include "mpiio/agreement/node_letters.h"
#include "mpiio/twophase/two_phase.h"
#include "mpiio/twophase/two_phase_schedule.h"
#include "plan/small_messages.h"
#include "sim/simulator.h"

namespace {

int64_t g_live = 0, g_most = 0;

void* counted(size_t size) {
  void* const memory = std::malloc(size ? size : 1);
  if (memory == nullptr) std::abort();
  g_live += int64_t(malloc_usable_size(memory));
  g_most = std::max(g_most, g_live);
  return memory;
}

void forget(void* memory) {
  if (memory != nullptr) g_live -= int64_t(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { forget(memory); }
void operator delete[](void* memory) noexcept { forget(memory); }
void operator delete(void* memory, size_t) noexcept { forget(memory); }
void operator delete[](void* memory, size_t) noexcept { forget(memory); }

namespace {

using namespace haichi;
using Json = nlohmann::ordered_json;
using mpiio::Access;
using mpiio::Announcement;

struct Options {
  int ranks = 100'000, per_node = 128, repetitions = 5;
};

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Time, and memory beyond what was there before.
struct Cost {
  double seconds = HUGE_VAL;
  int64_t bytes = 0;
};

template <class Work>
Cost cost_of(int repetitions, Work&& work) {
  Cost cost;
  for (int i = 0; i < repetitions; ++i) {
    const int64_t before = g_most = g_live;
    const double begin = processor_seconds();
    work();
    cost.seconds = std::min(cost.seconds, processor_seconds() - begin);
    cost.bytes = std::max(cost.bytes, g_most - before);
  }
  return cost;
}

/// A grid of blocks of 16^3 cells of 8 bytes each, as cubic as the number of ranks allows.
struct Grid {
  explicit Grid(int ranks) {
    for (int x = 1; x * x * x <= ranks; ++x)
      if (ranks % x == 0) sides[0] = x;
    const int rest = ranks / sides[0];
    for (int y = 1; y * y <= rest; ++y)
      if (rest % y == 0) sides[1] = y;
    sides[2] = rest / sides[1];
    std::sort(sides, sides + 3);
  }
  Access access(int rank) const {
    constexpr int64_t kSide = 16, kCell = 8;
    const int64_t at[] = {rank / sides[1] / sides[2], rank / sides[2] % sides[1], rank % sides[2]};
    const int64_t row = sides[2] * kSide * kCell, plane = sides[1] * kSide * row;
    auto tile = mpiio::Pattern::loop(
        mpiio::Pattern::loop(mpiio::Pattern::block(kSide * kCell), kSide, row), kSide, plane);
    const int64_t begin = at[0] * kSide * plane + at[1] * kSide * row + at[2] * kSide * kCell;
    return {{begin, std::move(tile), sides[0] * kSide * plane}, 0, kSide * kSide * kSide * kCell};
  }
  int sides[3] = {1, 1, 1};
};

Access interleaved(int ranks, int rank) {
  constexpr int64_t kPiece = 512, kPieces = 64;
  return {{rank * kPiece, mpiio::Pattern::block(kPiece), ranks * kPiece}, 0, kPiece * kPieces};
}

struct Pattern {
  const char* name;
  std::vector<Access> accesses;
};

Announcement announced(const Access& access) {
  Announcement a = mpiio::announcement_of(access);
  a.window = 1 << 20;
  return a;
}

mpiio::Demand sum_of(const std::vector<Access>& accesses) {
  mpiio::Demand sum{.hull = {INT64_MAX, 0}, .ranks = int(accesses.size())};
  for (const Access& access : accesses) {
    const plan::Extent hull = access.hull();
    sum.hull = {std::min(sum.hull.begin, hull.begin), std::max(sum.hull.end, hull.end)};
    sum.spans += hull.size();
    sum.bytes += access.end() - access.begin();
    sum.blocks += access.blocks();
  }
  return sum;
}

/// One call of one pattern on all ranks.
class Call {
 public:
  Call(const placement::Placement& placement, const Pattern& pattern)
      : placement_(placement), pattern_(pattern), together_(sum_of(pattern.accesses)) {
    for (const Access& access : pattern.accesses) announcements_.push_back(announced(access));
    aggregators_ = mpiio::aggregators_for(placement, options_);
    options_.chosen = &aggregators_;
    options_.node_streams = mpiio::Choice::off;  // memory of the node, counted elsewhere
    plan_ = mpiio::plan_two_phase(placement, options_, mpiio::Direction::write, together_);
    for (int node = 0; node < placement.nodes(); ++node) {
      words_.emplace_back();
      for (const int rank : placement.ranks_on(node))
        words_.back().add(mpiio::word_of(announcements_[size_t(rank)]));
    }
  }

  std::vector<Announcement> of_node(int node) const {
    std::vector<Announcement> result;
    for (const int rank : placement_.ranks_on(node)) result.push_back(announcements_[size_t(rank)]);
    return result;
  }
  bool writes_to(int node, int aggregator) const {
    return mpiio::meets(words_[size_t(node)].hull(), plan_.domains.hull(aggregator));
  }

  /// What any rank does: announces, plans, and makes the steps of its schedule.
  void as_rank(int rank, const mpiio::AccessList& others) const {
    const Access& own = pattern_.accesses[size_t(rank)];
    const Announcement mine = announced(own);
    mpiio::NodeAgreement talks(placement_, rank, mine, aggregators_.ranks);
    plan::Step step;
    while (talks.next(step)) continue;
    const auto plan =
        mpiio::plan_two_phase(placement_, options_, mpiio::Direction::write, together_);
    mpiio::TwoPhaseSchedule schedule(placement_, plan, rank, own, others, true);
    while (schedule.next(step)) continue;
  }
  void as_speaker(int node, const std::vector<Announcement>& of_node) const {
    const mpiio::NodeLetters of_ranks(of_node);
    std::vector<std::vector<std::byte>> letters;
    for (int a = 0; a < plan_.domains.aggregators(); ++a)
      if (writes_to(node, a)) letters.push_back(of_ranks.to(plan_.domains.hull(a)));
    as_rank(mpiio::speaker_of(placement_, node), {});
  }
  void as_aggregator(int aggregator, std::vector<std::vector<std::byte>> letters) const {
    mpiio::AccessList others;
    std::vector<std::pair<int, Access>> entries;
    mpiio::PatternPool pool;
    for (size_t node = 0; node < letters.size(); ++node) {
      auto read = mpiio::read_letter(placement_, int(node), letters[node], pool);
      if (!read) std::abort();
      for (mpiio::LetterEntry& each : *read)
        entries.emplace_back(each.rank, std::move(each.access));
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    others.reserve(entries.size());
    for (auto& [rank, access] : entries) others.add(rank, std::move(access));
    as_rank(aggregators_.ranks[size_t(aggregator)], others);
  }
  /// As small jobs do: everybody hears everybody's announcement.
  void told_by_all() const {
    const std::vector<Announcement> all(announcements_);
    std::vector<mpiio::RankDemand> demands;
    for (const Announcement& a : all) demands.push_back({a.hull(), a.bytes, a.blocks, nullptr});
    (void)mpiio::plan_two_phase(placement_, options_, mpiio::Direction::write, demands);
  }

  const placement::Placement& placement() const { return placement_; }
  const mpiio::TwoPhasePlan& plan() const { return plan_; }
  const std::vector<Announcement>& announcements() const { return announcements_; }

 private:
  const placement::Placement& placement_;
  const Pattern& pattern_;
  const mpiio::Demand together_;
  std::vector<Announcement> announcements_;
  std::vector<mpiio::NodeWord> words_;
  mpiio::TwoPhaseOptions options_;
  plan::Aggregators aggregators_;
  mpiio::TwoPhasePlan plan_;
};

/// What messages cost each rank's processor on the simulated machine.
class Messages : public sim::Observer {
 public:
  Messages(const machine::Machine& machine, int ranks)
      : machine_(machine), seconds_(size_t(ranks)) {}
  void received(const sim::MessageRecord& m) override {
    const double copy = double(m.bytes) / machine_.copy_gbs;
    seconds_[size_t(m.from)] += (machine_.send_ns + copy) * 1e-9;
    seconds_[size_t(m.to)] += (machine_.receive_ns + machine_.match_ns + copy) * 1e-9;
    ++count;
  }
  double of(int rank) const { return seconds_[size_t(rank)]; }
  double most() const { return *std::max_element(seconds_.begin(), seconds_.end()); }
  double sum() const {
    double all = 0;
    for (const double each : seconds_) all += each;
    return all;
  }
  int64_t count = 0;

 private:
  const machine::Machine& machine_;
  std::vector<double> seconds_;
};

/// Runs one schedule for each rank and adds its time to `seconds`; false with a line on standard
/// error if it fails.
bool simulated(const Call& call, const machine::Machine& machine,
               const std::vector<plan::Schedule*>& schedules, Messages& messages, double& seconds) {
  const auto done = sim::simulate(call.placement(), machine, schedules, {.observer = &messages});
  if (!done) {
    fprintf(stderr, "large-job-study: %s\n", done.error().text.c_str());
    return false;
  }
  seconds += sim::seconds(*std::max_element(done->finish.begin(), done->finish.end()));
  return true;
}

/// The agreement, and the letters: their sizes and then their bytes.
bool simulate_messages(const Call& call, const machine::Machine& machine, Messages& messages,
                       double& seconds) {
  const placement::Placement& placement = call.placement();
  {
    std::vector<std::unique_ptr<mpiio::NodeAgreement>> talks;
    std::vector<plan::Schedule*> schedules;
    for (int r = 0; r < placement.ranks(); ++r) {
      talks.push_back(std::make_unique<mpiio::NodeAgreement>(
          placement, r, call.announcements()[size_t(r)], call.plan().aggregators.ranks));
      schedules.push_back(talks.back().get());
    }
    if (!simulated(call, machine, schedules, messages, seconds)) return false;
  }
  const std::vector<int>& aggregators = call.plan().aggregators.ranks;
  std::vector<std::unique_ptr<plan::PeerOrder>> orders;
  for (int r = 0; r < placement.ranks(); ++r)
    orders.push_back(std::make_unique<plan::PeerOrder>(placement, call.plan().order, r));
  for (const bool bodies : {false, true}) {
    std::vector<std::unique_ptr<plan::SmallMessages>> letters;
    std::vector<plan::Schedule*> schedules;
    for (int r = 0; r < placement.ranks(); ++r) {
      letters.push_back(std::make_unique<plan::SmallMessages>(*orders[size_t(r)]));
      schedules.push_back(letters.back().get());
    }
    for (int node = 0; node < placement.nodes(); ++node) {
      const auto of_node = call.of_node(node);
      const mpiio::NodeLetters of_ranks(of_node);
      const int speaker = mpiio::speaker_of(placement, node);
      for (size_t a = 0; a < aggregators.size(); ++a) {
        if (!call.writes_to(node, int(a))) continue;
        std::vector<std::byte> data(sizeof(int64_t));
        if (bodies) data = of_ranks.to(call.plan().domains.hull(int(a)));
        letters[size_t(aggregators[a])]->receive_from(speaker, data.size());
        letters[size_t(speaker)]->send_to(aggregators[a], std::move(data));
      }
    }
    if (!simulated(call, machine, schedules, messages, seconds)) return false;
  }
  return true;
}

void print(const char* pattern, const char* kind, const Cost& cost, double of_messages) {
  puts(Json({{"pattern", pattern},
             {"kind", kind},
             {"code", cost.seconds},
             {"messages", of_messages},
             {"bytes", cost.bytes}})
           .dump()
           .c_str());
}

bool study(const placement::Placement& placement, const Pattern& pattern, const Options& options) {
  const Call call(placement, pattern);
  const machine::Machine machine;
  Messages messages(machine, placement.ranks());
  double seconds = 0;
  if (!simulate_messages(call, machine, messages, seconds)) return false;
  const int node = placement.nodes() / 2,
            aggregator = int(call.plan().aggregators.ranks.size()) / 2;
  const int speaker = mpiio::speaker_of(placement, node);
  const int plain = placement.ranks_on(node)[placement.ranks_on(node).size() / 2];
  const auto of_node = call.of_node(node);
  print(pattern.name, "rank", cost_of(options.repetitions, [&] { call.as_rank(plain, {}); }),
        messages.of(plain));
  print(pattern.name, "speaker",
        cost_of(options.repetitions, [&] { call.as_speaker(node, of_node); }),
        messages.of(speaker));
  std::vector<std::vector<std::byte>> letters;
  for (int n = 0; n < placement.nodes(); ++n) {
    letters.emplace_back();
    const auto from = call.of_node(n);
    if (call.writes_to(n, aggregator))
      letters.back() = mpiio::NodeLetters(from).to(call.plan().domains.hull(aggregator));
  }
  print(pattern.name, "aggregator",
        cost_of(options.repetitions, [&] { call.as_aggregator(aggregator, letters); }),
        messages.of(call.plan().aggregators.ranks[size_t(aggregator)]));
  print(pattern.name, "told by all", cost_of(options.repetitions, [&] { call.told_by_all(); }), 0);
  puts(Json({{"pattern", pattern.name},
             {"kind", "agreement"},
             {"ranks", placement.ranks()},
             {"nodes", placement.nodes()},
             {"simulated", seconds},
             {"count", messages.count},
             {"busiest", messages.most()},
             {"mean", messages.sum() / placement.ranks()},
             {"cycles", call.plan().domains.cycles()}})
           .dump()
           .c_str());
  return true;
}

/// What ranks_of() (src/mpi/communicators/rank_set.h) computes for ranks that are not the world's.
void print_open(const placement::Placement& world, const Options& options) {
  std::vector<int> reversed(size_t(world.ranks()));
  for (size_t r = 0; r < reversed.size(); ++r) reversed[r] = world.ranks() - 1 - int(r);
  print("open", "other ranks than the world's",
        cost_of(options.repetitions, [&] { (void)world.subset(reversed); }), 0);
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    int* const number = name == "--ranks"         ? &options.ranks
                        : name == "--per-node"    ? &options.per_node
                        : name == "--repetitions" ? &options.repetitions
                                                  : nullptr;
    const auto value = i + 1 < argc && number ? whole_number(argv[i + 1]) : std::nullopt;
    if (!value || *value < 1) {
      fprintf(stderr, "large-job-study: %s: a whole number from 1 on is needed\n", argv[i]);
      return false;
    }
    *number = *value;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 2;
  std::vector<int> nodes;
  for (int r = 0; r < options.ranks; ++r) nodes.push_back(r / options.per_node);
  const placement::Placement placement(nodes);
  print_open(placement, options);
  const Grid grid(options.ranks);
  Pattern blocks{"blocks", {}}, cyclic{"interleaved", {}};
  for (int r = 0; r < options.ranks; ++r) {
    blocks.accesses.push_back(grid.access(r));
    cyclic.accesses.push_back(interleaved(options.ranks, r));
  }
  return study(placement, blocks, options) && study(placement, cyclic, options) ? 0 : 2;
}
