#include "machine/curve.h"

#include <gtest/gtest.h>

#include "machine/local_message.h"

namespace haichi::machine {
namespace {

// 1 us and 1 ns a byte up to 1000 bytes, 5 us and 0.5 ns a byte from 2000 on.
const Curve kTwoProtocols{Place::node, {{0, 1000, 1e-6, 1e-9}, {2000, 4000, 5e-6, 0.5e-9}}};

TEST(Curve, IsALineForEachProtocol) {
  EXPECT_DOUBLE_EQ(kTwoProtocols.seconds(0), 1e-6);
  EXPECT_DOUBLE_EQ(kTwoProtocols.seconds(1000), 2e-6);
  EXPECT_DOUBLE_EQ(kTwoProtocols.seconds(2000), 6e-6);
  EXPECT_DOUBLE_EQ(kTwoProtocols.seconds(10000), 10e-6);
}

TEST(Curve, LeadsFromOnePieceToTheNext) {
  EXPECT_NEAR(kTwoProtocols.seconds(1500), 4e-6, 1e-15);
  EXPECT_GT(kTwoProtocols.seconds(1001), kTwoProtocols.seconds(1000));
}

TEST(Curve, OfTheNearestPlaceThatWasMeasured) {
  const std::vector<Curve> curves = {{Place::numa, {{0, 1, 1e-6, 0}}},
                                     {Place::network, {{0, 1, 2e-6, 0}}}};
  for (const Place place : {Place::core, Place::numa, Place::node})
    EXPECT_EQ(curve_for(curves, place), &curves[0]);
  EXPECT_EQ(curve_for(curves, Place::network), &curves[1]);
  // What is between nodes says nothing of what is inside one, nor the other way round.
  EXPECT_EQ(curve_for({{Place::network, {{0, 1, 2e-6, 0}}}}, Place::node), nullptr);
  EXPECT_EQ(curve_for({{Place::node, {{0, 1, 2e-6, 0}}}}, Place::network), nullptr);
}

TEST(LocalMessage, ItsPartsAndTheRanksWorkAreTheCurve) {
  for (const double bytes : {0.0, 800.0, 1500.0, 3000.0, 50000.0}) {
    const LocalMessage message = local_message(kTwoProtocols, bytes, 0.4e-6);
    EXPECT_NEAR(message.latency + message.copies + 0.4e-6, kTwoProtocols.seconds(bytes), 1e-15);
  }
  EXPECT_NEAR(local_message(kTwoProtocols, 800, 0.4e-6).copies, 0.8e-6, 1e-15);
}

TEST(LocalMessage, IsNeverNegative) {
  // A steep piece has a line that is below 0 at 0 bytes: all of it is copying.
  const Curve steep{Place::node, {{0, 100, 1e-6, 0}, {1000, 2000, -1e-6, 3e-9}}};
  const LocalMessage message = local_message(steep, 1000, 0);
  EXPECT_DOUBLE_EQ(message.latency, 0);
  EXPECT_NEAR(message.copies, 2e-6, 1e-15);
  const LocalMessage quick = local_message(steep, 8, 5e-6);
  EXPECT_EQ(quick.latency, 0);
  EXPECT_EQ(quick.copies, 0);
}

}  // namespace
}  // namespace haichi::machine
