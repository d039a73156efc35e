#include "collectives/cost.h"

#include <numeric>

namespace haichi::collectives {

Costs costs_of(const machine::Machine& machine) {
  Costs costs;
  costs.latency = machine.latency_ns * 1e-9;
  costs.hop = machine.hop_ns * 1e-9;
  costs.local_latency = machine.local_latency_ns * 1e-9;
  costs.send = machine.send_ns * 1e-9;
  costs.receive = (machine.receive_ns + machine.match_ns) * 1e-9;
  costs.copy = machine.copy_gbs * 1e9;
  costs.eager_bytes = machine.eager_bytes;
  costs.port = machine.out_gbs * 1e9;
  costs.link = machine.link_gbs * 1e9;
  return costs;
}

std::string_view name_of(Term term) {
  static constexpr std::string_view kNames[kTerms] = {"latency", "messages", "copies",
                                                      "ports",   "links",    "barriers"};
  return kNames[size_t(term)];
}

double Terms::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

}  // namespace haichi::collectives
