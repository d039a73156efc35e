// What a message costs its two ranks and how long its first byte takes, where that hangs on which
// two ranks they are.
//
// PURE.
#pragma once

#include <array>

#include "machine/local_message.h"
#include "placement/nearness.h"
#include "placement/placement.h"
#include "sim/time.h"

namespace haichi::sim {

/// Both must outlive it.
class MessageCosts {
 public:
  MessageCosts(const placement::Placement& placement, const Machine& machine)
      : placement_(placement), machine_(machine) {
    for (size_t near = 0; near < curves_.size(); ++near)
      curves_[near] = curve_for(machine.curves, machine::Place(near));
  }

  bool eager(int64_t bytes) const { return double(bytes) <= machine_.eager_bytes; }
  Time copy(int64_t bytes) const { return transfer_time(bytes, machine_.copy_gbs); }

  /// From rank to rank, of a message or a word of `bytes`. Between nodes: to the port.
  Time latency(int a, int b, int64_t bytes) const {
    if (!placement_.same_node(a, b)) return from_nanoseconds(machine_.latency_ns);
    const machine::Curve* const curve = curve_of(a, b);
    if (curve == nullptr) return from_nanoseconds(machine_.local_latency_ns);
    return from_nanoseconds(local(*curve, bytes).latency * 1e9);
  }

  /// Of either rank for an eager message.
  Time eager_copy(int a, int b, int64_t bytes) const {
    const machine::Curve* const curve = placement_.same_node(a, b) ? curve_of(a, b) : nullptr;
    if (curve == nullptr) return copy(bytes);
    return from_nanoseconds(local(*curve, bytes).copies * 1e9 / 2);
  }

  /// Of the receiver, for a message by rendezvous from a rank of its node.
  Time fetch(int a, int b, int64_t bytes) const {
    const machine::Curve* const curve = curve_of(a, b);
    if (curve == nullptr) return copy(bytes);
    return from_nanoseconds(local(*curve, bytes).copies * 1e9);
  }

 private:
  // Of two ranks of one node; null if there is none.
  const machine::Curve* curve_of(int a, int b) const {
    if (placement_.places().empty()) return curves_[size_t(placement::Nearness::node)];
    const auto& places = placement_.places();
    return curves_[size_t(placement::nearness(places[size_t(a)], places[size_t(b)]))];
  }
  machine::LocalMessage local(const machine::Curve& curve, int64_t bytes) const {
    return machine::local_message(curve, double(bytes),
                                  (machine_.send_ns + machine_.match_ns) * 1e-9);
  }

  const placement::Placement& placement_;
  const Machine& machine_;
  std::array<const machine::Curve*, 3> curves_;  // by Nearness: as the first of machine::Place
};

}  // namespace haichi::sim
