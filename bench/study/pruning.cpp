// How good the pruning of candidates is (src/collectives/model.h): simulates every candidate on
// every job and size, and prints what each takes and what was predicted of it, and what MPI
// libraries would take by their own rules. Usage:
//
//   pruning-study [KIND]      the jobs of that kind alone, as "line" or "6-D"
//
// One JSON object a line for each job and size; seconds. `haichi figures pruning` and `haichi
// figures regret` run it and add up. Exit code 2 and one line on standard error for a bad argument
// or if a simulation fails.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "agreement.h"
#include "collectives/model.h"
#include "jobs.h"
#include "simulated.h"
#include "stock.h"
#include "table1.h"

namespace {

using namespace haichi;
using collectives::Candidate;
using collectives::Traffic;
using Json = nlohmann::ordered_json;

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
  return study::simulated(job.placement, machine, [&](int rank) {
    return candidate.schedule({&job.placement, rank, block});
  });
}

// What each library takes for the exchange; what is a candidate too is looked up in `rows`.
Result<Json> stock(const study::Job& job, const machine::Machine& machine, int64_t block,
                   const Json& rows) {
  Json all = Json::object();
  for (const study::Library library : study::kLibraries) {
    const auto algorithm = study::stock_alltoall(library, job.placement.ranks(), block);
    Result<double> seconds = 0;
    const auto known = std::find_if(rows.begin(), rows.end(), [&](const Json& row) {
      return row["candidate"] == algorithm.same_as;
    });
    if (known != rows.end())
      seconds = (*known)["simulated"].get<double>();
    else
      seconds = study::simulated(job.placement, machine, [&](int rank) {
        return algorithm.schedule({&job.placement, rank, block});
      });
    if (!seconds) return tl::unexpected(seconds.error());
    all[name_of(library)] = {{"algorithm", algorithm.name}, {"simulated", *seconds}};
  }
  return all;
}

// What it takes the ranks to agree on the times of so many candidates.
Result<double> agreement(const study::Job& job, const machine::Machine& machine, size_t times) {
  return study::simulated(job.placement, machine, [&](int rank) {
    return std::make_unique<plan::GeneratedSchedule>(
        study::agreement({&job.placement, rank, int64_t(times * sizeof(int64_t))}));
  });
}

Status run(const study::Job& job) {
  const machine::Machine machine = machine_of(job);
  const collectives::Costs costs(machine);
  const auto shape = topology::parse_shape(job.network);
  if (!shape) return tl::unexpected(shape.error());
  auto traffic = Traffic::make(job.placement, *shape, job.seats);
  auto no_topology = Traffic::make(job.placement, topology::Shape{});
  if (!traffic || !no_topology) return tl::unexpected((traffic ? no_topology : traffic).error());
  const double ping_pong = costs.latency + costs.send + costs.receive;
  const int ranks = job.placement.ranks();
  const auto candidates =
      collectives::default_candidates(job.placement, collectives::Kind::all_to_all, true);
  for (const int64_t block : kSizes) {
    Json rows = Json::array();
    for (const Candidate& candidate : candidates) {
      const auto seconds = simulated(job, machine, candidate, block);
      if (!seconds) return tl::unexpected(seconds.error());
      Json row = {
          {"candidate", candidate.text()},
          {"simulated", *seconds},
          {"model", predict(candidate, *traffic, costs, block).total()},
          {"no topology", predict(candidate, *no_topology, costs, block).total()},
          {"half the work", predict(candidate, *traffic, with_work(costs, 0.5), block).total()},
          {"twice the work", predict(candidate, *traffic, with_work(costs, 2), block).total()},
          {"unknown machine", predict(candidate, *no_topology, {}, block).total()}};
      for (const auto& [name, c] :
           {std::pair("table 1", study::contention(job)), std::pair("table 1, no topology", 1.0)})
        if (const auto time = study::table1(candidate, ranks, block, ping_pong, c * costs.link))
          row[name] = *time;
      rows.push_back(std::move(row));
    }
    const auto verdicts = prune(candidates, *traffic, costs, block);
    for (size_t i = 0; i < rows.size(); ++i) rows[i]["kept"] = verdicts[i].kept;
    const auto libraries = stock(job, machine, block, rows);
    const auto agrees = agreement(job, machine, rows.size());
    if (!libraries || !agrees)
      return tl::unexpected(libraries ? agrees.error() : libraries.error());
    const Json line = {
        {"kind", job.kind},   {"job", job.name},     {"nodes", job.placement.nodes()},
        {"ranks", ranks},     {"bytes", block},      {"contention", traffic->contention()},
        {"candidates", rows}, {"stock", *libraries}, {"agreement", *agrees}};
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
