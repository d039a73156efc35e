#include "predict/collective_stretch.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace haichi::predict {
namespace {

constexpr double kNear = 1e-6;    // of what is wanted
constexpr double kMostRest = 64;  // times what it would be if all were beyond the ports
constexpr int kMostTurns = 30;

// What the call takes where what is beyond the ports is so many times as long.
struct Run {
  double rest, seconds;
};

// MPI_Ireduce_scatter_block and MPI_Reduce_scatter_block_c: reduce-scatter-block.
std::string measurement_of(std::string_view call) {
  if (call.ends_with("_c")) call.remove_suffix(2);
  call.remove_prefix(std::min<size_t>(call.size(), 4));
  const bool nonblocking = call.size() > 1 && call[0] == 'I' && call[1] >= 'a' && call[1] <= 'z';
  if (nonblocking) call.remove_prefix(1);
  std::string name;
  for (const char c : call) {
    if (c >= 'A' && c <= 'Z')
      name += char(c - 'A' + 'a');
    else
      name += c == '_' ? '-' : c;
  }
  return name;
}

// By size, what is measured of a call where its bytes are those of all peers together.
double measured_size(const record::Event& event, int ranks) {
  const double bytes = double(std::max<int64_t>(0, event.bytes));
  return call_of(event.call).per_peer ? bytes : bytes / ranks;
}

// So that the call takes as many seconds as wanted, by what it takes with a stretch.
Stretch stretch_to(double wanted, const std::function<double(Stretch)>& seconds) {
  Run low{1, seconds({})};
  if (low.seconds == 0) return {};
  const double ratio = wanted / low.seconds;
  if (ratio <= 1) return {ratio, ratio};
  Run high{ratio, seconds({1, ratio})};
  // With only so much of it beyond the ports, or none.
  for (; high.seconds < wanted * (1 - kNear); high = {high.rest * 2, seconds({1, high.rest * 2})})
    if (high.rest > kMostRest * ratio) return {ratio, ratio};
  // From both sides, as the time does not grow evenly where another message becomes the last one.
  for (int turn = 0; turn < kMostTurns && high.seconds > wanted * (1 + kNear); ++turn) {
    const double share = (wanted - low.seconds) / (high.seconds - low.seconds);
    const double rest = low.rest + (high.rest - low.rest) * (turn % 3 == 2 ? 0.5 : share);
    const Run run{rest, seconds({1, rest})};
    (run.seconds < wanted * (1 - kNear) ? low : high) = run;
  }
  return {1, high.rest};
}

}  // namespace

std::optional<Stretch> CollectiveStretch::of(const record::Event& event, const Members& members) {
  const auto [at, is_new] = known_.try_emplace({event.call, event.bytes, members.id, event.root});
  if (is_new) at->second = work_out(event, members);
  return at->second;
}

std::optional<Stretch> CollectiveStretch::work_out(const record::Event& event,
                                                   const Members& members) {
  const int ranks = members.placement.ranks(), nodes = members.placement.nodes();
  if (ranks == 1) return Stretch();  // it has nothing to send
  const std::string name = measurement_of(event.call);
  const auto& curves = profile_.collectives;
  const auto curve = std::find_if(curves.begin(), curves.end(), [&](const auto& each) {
    return each.name == name && each.ranks == ranks && each.nodes == nodes && !each.curve.empty();
  });
  if (curve == curves.end()) {
    if (told_.insert(name).second)
      notes_.push_back(fmt::format(
          "{} of {} ranks on {} node{} was not measured: its messages are taken as they are",
          event.call, ranks, nodes, nodes == 1 ? "" : "s"));
    return std::nullopt;
  }
  // The call alone, on its own ranks.
  record::Event alone;
  alone.call = event.call;
  alone.bytes = event.bytes;
  alone.comm = 0;
  alone.root =
      event.root < 0 || !members.place.contains(event.root) ? 0 : members.place.at(event.root);
  const record::Sequence sequence{{alone}, {{0, 1, {}}}};
  std::vector<Communicator> all(1);
  all[0].members.resize(size_t(ranks));
  std::iota(all[0].members.begin(), all[0].members.end(), 0);
  const Costs costs(members.placement, profile_, bound_);
  const Job job{&members.placement, all,
                std::vector<const record::Sequence*>(size_t(ranks), &sequence)};
  const double wanted = curve->curve.at(measured_size(event, ranks), bound_);
  return stretch_to(wanted,
                    [&](Stretch stretch) { return sim::seconds(run_(job, costs, stretch)); });
}

}  // namespace haichi::predict
