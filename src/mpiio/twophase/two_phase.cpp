#include "mpiio/twophase/two_phase.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"
#include "mpiio/twophase/cut.h"
#include "mpiio/twophase/domains_by_bytes.h"
#include "mpiio/twophase/occupied.h"
#include "plan/aggregator_number.h"

namespace haichi::mpiio {
namespace {

// So many cycles take as long as two collective calls for which most of them may be spared.
constexpr int64_t kCyclesWorthTelling = 16;

// Where the ranks of a node have no more than this for an aggregator and cycle, in the mean, they
// send one message together, if a node has at least so many fewer in a call: two ranks; more ranks;
// more ranks whose messages are many pieces, and packed and scattered anyway. See "Streams of a
// node" in docs/notes.md.
constexpr int64_t kStreamedOfTwo = 2 << 10;
constexpr int64_t kStreamed = 16 << 10;
constexpr int64_t kStreamedPieces = 64 << 10;
constexpr int64_t kSmallPiece = 4 << 10;
constexpr double kLeastSpared = 64;

Demand sum_of(const std::vector<RankDemand>& demands) {
  Demand sum{.hull = {INT64_MAX, INT64_MIN}};
  for (const RankDemand& demand : demands) {
    sum.bytes += demand.bytes;
    if (__builtin_add_overflow(sum.blocks, demand.blocks, &sum.blocks)) sum.blocks = INT64_MAX;
    if (demand.hull.empty()) continue;
    sum.hull.begin = std::min(sum.hull.begin, demand.hull.begin);
    sum.hull.end = std::max(sum.hull.end, demand.hull.end);
  }
  if (sum.hull.empty()) sum.hull = {};
  return sum;
}

/// Empty if the aggregators shall access the file between exchanging, or why a thread shall.
std::string why_file_thread(const placement::Placement& placement, const TwoPhaseOptions& options,
                            int64_t cycles) {
  if (cycles < 2 || options.file_thread == Choice::off) return "";
  // On a single node the ranks copy, and have no processor to spare.
  if (placement.nodes() == 1 && options.file_thread != Choice::on) return "";
  return "a thread of each aggregator accesses the file while messages travel";
}

/// How many messages a rank may have in a call.
int64_t messages_of(const TwoPhasePlan& plan, int64_t span, int64_t bytes, int64_t blocks) {
  const int64_t windows = span / plan.cb_slot_bytes + 1;
  return blocks < windows ? std::min(windows, blocks + bytes / plan.cb_slot_bytes) : windows;
}

/// What a rank has for an aggregator in a cycle, in the mean over those that may have something, in
/// bytes. Where a rank's pieces are is not looked at: it may have less for more of them. `most`:
/// bytes of all windows, at most.
int64_t mean_message(const TwoPhasePlan& plan, const std::vector<RankDemand>& demands,
                     int64_t most) {
  int64_t bytes = 0, messages = 0;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    bytes += demand.bytes;
    messages += messages_of(plan, std::min(most, demand.hull.size()), demand.bytes, demand.blocks);
  }
  return bytes / std::max<int64_t>(1, messages);
}

/// The same of ranks that are alike.
int64_t mean_message(const TwoPhasePlan& plan, const Demand& together) {
  const int64_t ranks = std::max(1, together.ranks);
  const int64_t messages =
      messages_of(plan, together.spans / ranks, together.bytes / ranks, together.blocks / ranks);
  return together.bytes / ranks / std::max<int64_t>(1, messages);
}

/// How many messages fewer a node has in a call if its ranks have one together: in the mean.
double messages_spared(const placement::Placement& placement, const TwoPhasePlan& plan) {
  const double nodes = placement.nodes();
  const double elsewhere = double(plan.aggregators.ranks.size()) * (nodes - 1) / nodes;
  return (placement.ranks() / nodes - 1) * elsewhere * double(plan.domains.cycles());
}

/// Most bytes that a rank may have for an aggregator in a cycle, in the mean, to be streamed.
int64_t most_streamed(const placement::Placement& placement, const Demand& together) {
  if (placement.ranks() <= 2 * placement.nodes()) return kStreamedOfTwo;
  return divide_up(together.bytes, kSmallPiece) <= together.blocks ? kStreamedPieces : kStreamed;
}

/// Decides on streams of nodes: sets what the plan has of them and says why.
void plan_streams(const placement::Placement& placement, const TwoPhaseOptions& options,
                  const Demand& together, TwoPhasePlan& plan) {
  const bool some_have_company = placement.ranks() > placement.nodes();
  if (placement.nodes() == 1 || !some_have_company || !options.may_share ||
      options.node_streams == Choice::off || plan.domains.cycles() == 0)
    return;
  const bool asked = options.node_streams == Choice::on;
  if (!asked && plan.busiest_link == 0) return;
  const int64_t most = most_streamed(placement, together);
  if (!asked && (plan.message > most || messages_spared(placement, plan) < kLeastSpared)) return;
  plan.stream_part = asked ? plan.cb_slot_bytes : 2 * most;  // some have more than others
  plan.stream_memory = options.stream_memory;
  plan.why.push_back(fmt::format(
      "one message per node, aggregator and cycle between nodes: {}a rank has {} bytes in the mean",
      asked ? "asked for; " : "", plan.message));
}

/// The last of a plan's reasons.
std::string why_issued(const TwoPhasePlan& plan) {
  return fmt::format("messages in order {}, at most {} sends outstanding", name_of(plan.order),
                     plan.max_outstanding ? std::to_string(plan.max_outstanding) : "any number of");
}

}  // namespace

int64_t buffer_needed(const placement::Placement& placement, const TwoPhaseOptions& options,
                      const plan::Extent& range) {
  return windows_of_buffer(placement, options) *
         window_size(placement, range, aggregators_of(placement, options), options);
}

int64_t hole_of(const placement::Placement& placement, const TwoPhaseOptions& options,
                Direction direction, const plan::Extent& range) {
  return hole_in(direction,
                 window_size(placement, range, aggregators_of(placement, options), options));
}

bool worth_telling(const placement::Placement& placement, const TwoPhaseOptions& options,
                   const Demand& together) {
  return may_be_sparse(together) &&
         cut_of_range(placement, options, aggregators_of(placement, options), together.hull)
                 .cycles >= kCyclesWorthTelling;
}

bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options) {
  return placement.nodes() == 1 && options.aggregators == 0 && options.per_node == 0 &&
         options.may_go_direct;
}

int aggregators_of(const placement::Placement& placement, const TwoPhaseOptions& options) {
  // Not by a conditional expression, which would copy them.
  if (options.chosen) return int(options.chosen->ranks.size());
  return int(aggregators_for(placement, options).ranks.size());
}

plan::Aggregators aggregators_for(const placement::Placement& placement,
                                  const TwoPhaseOptions& options) {
  if (options.chosen) return *options.chosen;
  if (may_be_direct(placement, options)) {
    auto all = plan::choose_aggregators(placement, options.layout, placement.ranks(), 0);
    all.why =
        fmt::format("{} aggregators: all ranks, since they are on one node; cb_nodes not given",
                    placement.ranks());
    return all;
  }
  const int stripes = options.stripe_unit > 0 ? options.stripes : 0;
  if (options.machine && options.aggregators == 0 && options.per_node == 0) {
    const plan::FileShape file{window_of_buffer(placement, options), options.stripe_unit, stripes};
    if (auto number = plan::number_by_rates(*options.machine, placement, file)) {
      auto chosen =
          plan::choose_aggregators(placement, options.layout, number->total, 0, number->per_node);
      chosen.why = std::move(number->why);
      return chosen;
    }
  }
  return plan::choose_aggregators(placement, options.layout, options.aggregators, stripes,
                                  options.per_node);
}

namespace {

/// With even domains.
TwoPhasePlan begin_plan(const placement::Placement& placement, const TwoPhaseOptions& options,
                        Direction direction, const plan::Extent& range) {
  TwoPhasePlan result;
  result.direction = direction;
  result.aggregators = aggregators_for(placement, options);
  const int count = int(result.aggregators.ranks.size());
  result.cb_slot_bytes = window_size(placement, range, count, options);
  result.cb_slots = windows_of_buffer(placement, options);
  result.domains = even_domains(range, count, result.cb_slot_bytes, options);
  result.order = options.order;
  result.max_outstanding = options.max_outstanding;
  result.shares = options.may_share;
  result.why.push_back(result.aggregators.why);
  result.why.push_back(fmt::format("layout {} over {} node{}", name_of(options.layout),
                                   placement.nodes(), placement.nodes() == 1 ? "" : "s"));
  return result;
}

/// Those of the range if it is mostly holes, as small as it makes for fewer cycles.
std::vector<plan::Extent> parts_of_range(const placement::Placement& placement,
                                         const TwoPhaseOptions& options, const Demand& together,
                                         const std::vector<RankDemand>& demands,
                                         const TwoPhasePlan& plan) {
  if (plan.domains.cycles() < 2) return {};
  const int64_t enough = kOverlappingCycles * int64_t(plan.aggregators.ranks.size()) *
                         window_of_buffer(placement, options);
  return occupied_parts(together.hull, demands,
                        hole_of(placement, options, plan.direction, together.hull), enough);
}

/// Domains and windows without the holes between the parts.
void plan_parts(const placement::Placement& placement, const TwoPhaseOptions& options,
                const std::vector<plan::Extent>& parts, TwoPhasePlan& plan) {
  const int64_t size = size_of(parts);
  const int count = int(plan.aggregators.ranks.size());
  plan.cb_slot_bytes = window_size(placement, {0, size}, count, options);
  const auto dealt = options.stripe_unit > 0 ? striped_out(parts, options.stripe_unit, count)
                                             : dealt_out(parts, count);
  plan.domains = plan::FileDomains::packed(dealt, plan.cb_slot_bytes);
  plan.why.push_back(fmt::format("most of the range is holes: {} part{} of {} bytes in all are cut",
                                 parts.size(), parts.size() == 1 ? "" : "s", size));
}

/// Once domains and the size of messages are known; `how` says what the domains are.
void end_plan(const placement::Placement& placement, const TwoPhaseOptions& options,
              const Demand& together, const char* how, TwoPhasePlan& plan) {
  plan.why.push_back(
      fmt::format("{} cycle{}: bytes {} to {} in {} cut in windows of at most {} bytes",
                  plan.domains.cycles(), plan.domains.cycles() == 1 ? "" : "s", together.hull.begin,
                  together.hull.end, how, plan.cb_slot_bytes));
  std::string thread = why_file_thread(placement, options, plan.domains.cycles());
  plan.file_thread = !thread.empty();
  if (plan.file_thread) plan.why.push_back(std::move(thread));
  plan_streams(placement, options, together, plan);
  plan.why.push_back(why_issued(plan));
}

}  // namespace

TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands) {
  const Demand together = sum_of(demands);
  TwoPhasePlan result = begin_plan(placement, options, direction, together.hull);
  const char* how = options.stripe_unit > 0 ? "stripes" : "even domains";
  const std::vector<plan::Extent> parts =
      parts_of_range(placement, options, together, demands, result);
  if (!parts.empty()) {
    plan_parts(placement, options, parts, result);
    how = options.stripe_unit > 0 ? "stripes of its parts" : "even domains of its parts";
  }
  if (may_go_by_bytes(placement, options)) {
    if (auto local = domains_by_bytes(placement, options, result, together.hull, demands, parts)) {
      if (local->domains) {
        result.domains = std::move(*local->domains);
        how = "domains";
      }
      result.why.push_back(std::move(local->why));
      result.min_internode_bytes = local->min_internode_bytes;
      result.busiest_link = local->busiest_link;
      result.busiest_aggregator = local->busiest_aggregator;
    }
  }
  result.message = mean_message(result, demands, parts.empty() ? INT64_MAX : size_of(parts));
  end_plan(placement, options, together, how, result);
  return result;
}

TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const Demand& together) {
  TwoPhasePlan result = begin_plan(placement, options, direction, together.hull);
  result.message = mean_message(result, together);
  result.why.emplace_back("the ranks agreed node by node (scale.ranks): domains are even");
  end_plan(placement, options, together, options.stripe_unit > 0 ? "stripes" : "even domains",
           result);
  return result;
}

void override_issue_order(TwoPhasePlan& plan, plan::IssueOrder order, int window,
                          std::string_view because) {
  plan.order = order;
  plan.max_outstanding = window;
  plan.why.back() = fmt::format("{}: {}", why_issued(plan), because);
}

}  // namespace haichi::mpiio
