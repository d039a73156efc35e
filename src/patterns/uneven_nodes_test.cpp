// How much a node handles that has all bytes, on simulated machines: the share that plan/node_share
// has by the machine's costs, against the usual one.
#include <gtest/gtest.h>

#include "mpiio/twophase/two_phase.h"
#include "mpiio/twophase/two_phase_schedule.h"
#include "patterns/file_steps.h"
#include "sim/simulator.h"
#include "sim/summary.h"

namespace haichi::patterns {
namespace {

constexpr int64_t kPiece = 1000, kPieces = 4000;

/// The ranks of the first node take turns; the others have nothing.
std::vector<mpiio::Access> accesses_of(const placement::Placement& placement) {
  const auto have = placement.ranks_on(0);
  const int64_t stride = kPiece * int64_t(have.size());
  std::vector<mpiio::Access> accesses(size_t(placement.ranks()),
                                      mpiio::Access{mpiio::View{}, 0, 0});
  for (size_t i = 0; i < have.size(); ++i)
    accesses[size_t(have[i])] =
        mpiio::Access{mpiio::View{int64_t(i) * kPiece, mpiio::Pattern::block(kPiece), stride}, 0,
                      kPiece * kPieces};
  return accesses;
}

/// Seconds until the last rank is done.
double time_of(const placement::Placement& placement, const machine::Machine& machine,
               mpiio::Direction direction, bool balanced) {
  const auto accesses = accesses_of(placement);
  std::vector<mpiio::RankDemand> demands;
  for (const mpiio::Access& each : accesses) demands.push_back(mpiio::demand_of(each));
  mpiio::TwoPhaseOptions options;
  options.aggregators = placement.nodes();
  options.node_streams = mpiio::Choice::off;
  options.machine = &machine;
  options.balanced = balanced;
  const auto plan = mpiio::plan_two_phase(placement, options, direction, demands);
  const mpiio::AccessList others(accesses);
  const int64_t all = kPiece * kPieces * int64_t(placement.ranks_on(0).size());
  std::vector<std::unique_ptr<plan::Schedule>> made;
  std::vector<plan::Schedule*> schedules;
  for (int r = 0; r < placement.ranks(); ++r) {
    auto cycles = std::make_unique<mpiio::TwoPhaseSchedule>(placement, plan, r, accesses[size_t(r)],
                                                            others, plan.shares, nullptr);
    made.push_back(std::make_unique<FileSteps>(std::move(cycles), Pieces{{0, all}, all, all},
                                               mpiio::Holes::automatic, plan.file_thread));
    schedules.push_back(made.back().get());
  }
  const auto outcome = sim::simulate(placement, machine, schedules);
  EXPECT_TRUE(outcome) << outcome.error().text;
  return outcome ? sim::summarize(*outcome).worst : 0;
}

machine::Machine machine_with(double link_gbs, double client_gbs) {
  machine::Machine machine;
  for (const auto& [name, value] : {std::pair{"in_gbs", link_gbs},
                                    {"out_gbs", link_gbs},
                                    {"client_gbs", client_gbs},
                                    {"servers", 64.0},
                                    {"server_gbs", 10.0},
                                    {"request_us", 0.0},
                                    {"storage_gbs", 100.0}})
    EXPECT_TRUE(machine::set_field(machine, name, value)) << name;
  return machine;
}

struct Case {
  double link_gbs, client_gbs;
  double most;  ///< of the time with the usual share
};

TEST(UnevenNodes, TheShareFollowsWhatLinkAndFileCost) {
  // Links from a hundred times as slow as an aggregator's file to a hundred times as fast.
  const Case cases[] = {
      {0.0125, 1.25, 0.02}, {0.5, 1, 0.65}, {1, 1, 0.8}, {1, 0.25, 1}, {10, 0.1, 1}};
  for (const auto& placement : {placement::block(4, 4), placement::round_robin(8, 2)})
    for (const auto direction : {mpiio::Direction::write, mpiio::Direction::read})
      for (const auto& [link_gbs, client_gbs, most] : cases) {
        const machine::Machine machine = machine_with(link_gbs, client_gbs);
        const double usual = time_of(placement, machine, direction, true);
        const double by_cost = time_of(placement, machine, direction, false);
        EXPECT_LE(by_cost, most * 1.01 * usual)
            << placement.nodes() << " nodes, " << link_gbs << " GB/s links, files " << client_gbs;
      }
}

}  // namespace
}  // namespace haichi::patterns
