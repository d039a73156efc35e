// How good the pruning of candidates is (src/collectives/model.h): simulates every candidate on
// every job and size, and prints what each takes and what was predicted of it. Usage:
//
//   pruning-study [KIND]      the jobs of that kind alone, as "line" or "6-D"
//
// One JSON object a line for each job and size; seconds. `haichi measure pruning` runs it and adds
// up. Exit code 2 and one line on standard error for a bad argument or if a simulation fails.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "collectives/model.h"
#include "jobs.h"
#include "sim/simulator.h"
#include "sim/summary.h"
#include "table1.h"

namespace {

using namespace haichi;
using collectives::Candidate;
using collectives::Traffic;

constexpr int64_t kSizes[] = {8, 32, 64, 128, 256, 1024, 4096, 32768, 262144};

// Links of 5 GB/s and four network interfaces a node, as the Tofu interconnect has them (Ajima et
// al., HOTI 2011); 0.3 us of work for a message. The rest is as in docs/guide/simulation.md.
machine::Machine machine_of(const study::Job& job) {
  machine::Machine machine;
  machine.network = job.network;
  machine.seats = job.seats;
  machine.link_gbs = 5;
  machine.out_gbs = machine.in_gbs = 20;
  machine.send_ns = 100;
  machine.receive_ns = 50;
  machine.match_ns = 150;
  machine.copy_gbs = 10;
  return machine;
}

// What a measurement would find if it were wrong about the work for a message.
collectives::Costs with_work(collectives::Costs costs, double factor) {
  costs.send *= factor;
  costs.receive *= factor;
  return costs;
}

Result<double> simulated(const study::Job& job, const machine::Machine& machine,
                         const Candidate& candidate, int64_t block) {
  std::vector<std::unique_ptr<plan::Schedule>> owned;
  std::vector<plan::Schedule*> schedules;
  for (int rank = 0; rank < job.placement.ranks(); ++rank)
    schedules.push_back(
        owned.emplace_back(candidate.schedule({&job.placement, rank, block})).get());
  const auto outcome = sim::simulate(job.placement, machine, schedules);
  if (!outcome) return tl::unexpected(outcome.error());
  return sim::summarize(*outcome).worst;
}

Status run(const study::Job& job) {
  const machine::Machine machine = machine_of(job);
  const collectives::Costs costs = collectives::costs_of(machine);
  const auto shape = topology::parse_shape(job.network);
  if (!shape) return tl::unexpected(shape.error());
  auto traffic = Traffic::make(job.placement, *shape, job.seats);
  auto no_topology = Traffic::make(job.placement, topology::Shape{});
  if (!traffic || !no_topology) return tl::unexpected((traffic ? no_topology : traffic).error());
  const double ping_pong = costs.latency + costs.send + costs.receive;
  const int ranks = job.placement.ranks();
  for (const int64_t block : kSizes) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Candidate& candidate :
         collectives::default_candidates(job.placement, collectives::Kind::all_to_all, true)) {
      const auto seconds = simulated(job, machine, candidate, block);
      if (!seconds) return tl::unexpected(seconds.error());
      nlohmann::ordered_json row = {
          {"candidate", candidate.text()},
          {"simulated", *seconds},
          {"model", predict(candidate, *traffic, costs, block).total()},
          {"no topology", predict(candidate, *no_topology, costs, block).total()},
          {"half the work", predict(candidate, *traffic, with_work(costs, 0.5), block).total()},
          {"twice the work", predict(candidate, *traffic, with_work(costs, 2), block).total()}};
      for (const auto& [name, c] :
           {std::pair("table 1", study::contention(job)), std::pair("table 1, no topology", 1.0)})
        if (const auto time = study::table1(candidate, ranks, block, ping_pong, c * costs.link))
          row[name] = *time;
      rows.push_back(std::move(row));
    }
    const nlohmann::ordered_json line = {
        {"kind", job.kind},  {"job", job.name}, {"nodes", job.placement.nodes()},
        {"ranks", ranks},    {"bytes", block},  {"contention", traffic->contention()},
        {"candidates", rows}};
    std::puts(line.dump().c_str());
    std::fflush(stdout);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  bool any = false;
  for (const study::Job& job : study::jobs()) {
    if (!only.empty() && job.kind != only) continue;
    any = true;
    if (const auto done = run(job); !done) {
      std::fprintf(stderr, "pruning-study: %s: %s\n", job.name.c_str(), done.error().text.c_str());
      return 2;
    }
  }
  if (!any || argc > 2) std::fprintf(stderr, "usage: pruning-study [KIND]\n");
  return any && argc <= 2 ? 0 : 2;
}
