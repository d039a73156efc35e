#include "mpiio/ways/access_cost.h"

#include <gtest/gtest.h>

#include "support/strided_demand.h"

namespace haichi::mpiio {
namespace {

const auto kNode = placement::block(1, 8), kNodes = placement::block(4, 2);

double exchanged(const placement::Placement& placement, const Demand& demand) {
  return two_phase_ns(placement, {}, Direction::write, demand);
}

TEST(AccessCost, FollowsThePartsNotTheirRange) {
  for (const auto& placement : {kNode, kNodes}) {
    const double near = exchanged(placement, demand(8, 500, 64, 1 << 20, 64));
    const double far = exchanged(placement, demand(8, 500, 64, 1 << 30, 64));
    EXPECT_NEAR(far, near, 0.01 * near);
  }
}

TEST(AccessCost, AnExchangeSparesRequestsOnlyWherePiecesLieTogether) {
  for (const auto& placement : {kNode, kNodes}) {
    const Demand together = demand(8, 2000, 64, 8 << 20, 64);
    const Demand apart = demand(8, 2000, 64, 8 << 20, 1 << 20);
    EXPECT_LT(exchanged(placement, together), alone_ns(placement, Direction::write, together));
    EXPECT_GT(exchanged(placement, apart), alone_ns(placement, Direction::write, apart));
  }
}

TEST(AccessCost, CountsEmptyCyclesWhereNobodyKnowsTheParts) {
  TwoPhaseOptions by_nodes;
  by_nodes.knows_parts = false;
  const Demand sparse = demand(8, 500, 64, 1 << 30, 64);
  EXPECT_GT(two_phase_ns(kNodes, by_nodes, Direction::write, sparse),
            100 * exchanged(kNodes, sparse));
}

}  // namespace
}  // namespace haichi::mpiio
