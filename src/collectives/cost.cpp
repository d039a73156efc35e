#include "collectives/cost.h"

#include <numeric>

namespace haichi::collectives {

Costs::Costs(const machine::Machine& machine)
    : latency(machine.latency_ns * 1e-9),
      hop(machine.hop_ns * 1e-9),
      local_latency(machine.local_latency_ns * 1e-9),
      send(machine.send_ns * 1e-9),
      receive((machine.receive_ns + machine.match_ns) * 1e-9),
      copy(machine.copy_gbs * 1e9),
      eager_bytes(machine.eager_bytes),
      port(machine.out_gbs * 1e9),
      link(machine.link_gbs * 1e9) {
  // Which ranks of a node a message is between, an algorithm's time does not say.
  if (const machine::Curve* curve = curve_for(machine.curves, machine::Place::node)) local = *curve;
}

std::string_view name_of(Term term) {
  static constexpr std::string_view kNames[kTerms] = {"latency", "messages", "copies",
                                                      "ports",   "links",    "barriers"};
  return kNames[size_t(term)];
}

double Terms::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

}  // namespace haichi::collectives
