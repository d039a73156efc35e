#include "predict/collective_factor.h"

#include <algorithm>
#include <numeric>

namespace haichi::predict {
namespace {

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

}  // namespace

std::optional<double> CollectiveFactor::of(const record::Event& event, const Members& members) {
  const auto [at, is_new] = known_.try_emplace({event.call, event.bytes, members.id, event.root});
  if (is_new) at->second = work_out(event, members);
  return at->second;
}

std::optional<double> CollectiveFactor::work_out(const record::Event& event,
                                                 const Members& members) {
  const int ranks = members.placement.ranks(), nodes = members.placement.nodes();
  if (ranks == 1) return 1;  // it has nothing to send
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
  const sim::Time end = run_(job, costs);
  if (end == 0) return 1;
  return curve->curve.at(measured_size(event, ranks), bound_) / sim::seconds(end);
}

}  // namespace haichi::predict
