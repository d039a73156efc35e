#include "predict/costs.h"

#include <algorithm>

#include "placement/nearness.h"

namespace haichi::predict {
namespace {

using machine::Curve;
using machine::Machine;
using sim::Time;

// Of a message's time at most this share is a processor's own work: numbers of other machines must
// not eat up what was measured.
constexpr double kMostWork = 0.25;

Time picoseconds(double seconds) { return Time(std::max(0.0, seconds) * 1e12 + 0.5); }

// GB/s at which the curve grows over the larger half of its sizes, or 0.
double rate_of(const Curve& curve) {
  double size = curve.pieces.empty() ? 0 : curve.pieces.back().to;
  if (!curve.points.empty()) size = std::max(size, curve.points.bytes.back());
  const double more = curve.seconds_at(2 * size) - curve.seconds_at(size);
  return more > 0 ? size / more * 1e-9 : 0;
}

}  // namespace

MessageCost MessageCost::times(Stretch stretch) const {
  const auto longer = [](Time time, double factor) { return Time(double(time) * factor + 0.5); };
  // It goes out and in at the same time.
  const Time ports = std::max(out, in), rest = way - ports;
  return {longer(send, stretch.rest),    longer(ports, stretch.ports) + longer(rest, stretch.rest),
          longer(out, stretch.ports),    longer(in, stretch.ports),
          longer(receive, stretch.rest), eager};
}

Costs::Costs(const placement::Placement& placement, const machine::Profile& profile,
             machine::Bound bound)
    : placement_(placement), profile_(profile), bound_(bound), machine_(profile.machine) {
  for (const Way each : {Way::core, Way::numa, Way::node, Way::network})
    curves_[size_t(each)] = curve_for(machine_.curves, machine::Place(int(each) - 1));
  curves_[size_t(Way::self)] = curves_[size_t(Way::core)];
  // A port's rate that nobody measured is what one pair of ranks gets through it.
  if (const Curve* const network = curves_[size_t(Way::network)]) {
    const double rate = rate_of(*network);
    if (rate > 0 && !machine_.tells("out_gbs")) machine_.out_gbs = rate;
    if (rate > 0 && !machine_.tells("in_gbs")) machine_.in_gbs = rate;
  } else if (placement.nodes() > 1) {
    lacking_.emplace_back(
        "the machine has no curve of messages between nodes: its numbers alone tell their times");
  }
  if (curves_[size_t(Way::node)] == nullptr && placement.ranks() > placement.nodes())
    lacking_.emplace_back(
        "the machine has no curve of messages inside a node: its numbers alone tell their times");
  posting_ = machine_.tells("receive_ns") ? sim::from_nanoseconds(machine_.receive_ns) : 0;
}

Way Costs::way(int a, int b) const {
  if (a == b) return Way::self;
  if (!placement_.same_node(a, b)) return Way::network;
  const auto places = placement_.places();
  if (places.empty()) return Way::node;
  switch (placement::nearness(places[size_t(a)], places[size_t(b)])) {
    case placement::Nearness::core:
      return Way::core;
    case placement::Nearness::numa:
      return Way::numa;
    case placement::Nearness::node:
      break;
  }
  return Way::node;
}

Time Costs::copy(int64_t bytes) const { return sim::transfer_time(bytes, machine_.copy_gbs); }

// By the numbers alone as the simulator has it: see docs/guide/simulation.md.
double Costs::seconds(Way way, double bytes) const {
  if (const Curve* const curve = curves_[size_t(way)]) return curve->seconds_at(bytes, bound_);
  const double work = (machine_.send_ns + machine_.match_ns) * 1e-9;
  const double copy = bytes / machine_.copy_gbs * 1e-9;
  const double copies = bytes <= machine_.eager_bytes ? 2 * copy : way == Way::network ? 0 : copy;
  if (way == Way::network)
    return work + copies + machine_.latency_ns * 1e-9 + bytes / machine_.out_gbs * 1e-9;
  return work + copies + machine_.local_latency_ns * 1e-9;
}

MessageCost Costs::message(Way way, int64_t bytes) const {
  const double all = seconds(way, double(bytes));
  const bool eager = double(bytes) <= machine_.eager_bytes;
  const double copy = eager ? double(bytes) / machine_.copy_gbs * 1e-9 : 0;
  const double most = all * kMostWork;
  MessageCost cost;
  cost.eager = eager;
  cost.send = picoseconds(std::min(machine_.send_ns * 1e-9 + copy, most));
  cost.receive = picoseconds(std::min(machine_.match_ns * 1e-9 + copy, most));
  cost.way = picoseconds(all) - cost.send - cost.receive;
  if (way == Way::network) {
    cost.out = std::min(cost.way, sim::transfer_time(bytes, machine_.out_gbs));
    cost.in = std::min(cost.way, sim::transfer_time(bytes, machine_.in_gbs));
  }
  return cost;
}

}  // namespace haichi::predict
