// What a message costs its two ranks, the way between them and the ports of their nodes, from what
// was measured on a machine.
//
// The time of a message from rank to rank is that of the ping-pong's curve of their place, to the
// point; the numbers of the machine only say how it divides: what the sender's and the receiver's
// processors do of it, and for how long it occupies the nodes' ports. Where no curve of the place
// was measured the numbers alone tell, as in src/sim/.
//
// PURE.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/profile.h"
#include "placement/placement.h"
#include "predict/path.h"
#include "predict/stretch.h"
#include "sim/time.h"

namespace haichi::predict {

struct MessageCost {
  sim::Time send = 0;     ///< of the sender's processor
  sim::Time way = 0;      ///< from there until its last byte is there
  sim::Time out = 0;      ///< of `way`: for which it occupies the port out of its node
  sim::Time in = 0;       ///< and the port into the other
  sim::Time receive = 0;  ///< of the receiver's processor
  bool eager = true;

  sim::Time all() const { return send + way + receive; }
  /// Of a message that takes so much longer.
  MessageCost times(Stretch stretch) const;
};

/// Placement and profile must outlive it.
class Costs {
 public:
  Costs(const placement::Placement& placement, const machine::Profile& profile,
        machine::Bound bound);

  Way way(int a, int b) const;
  MessageCost message(Way way, int64_t bytes) const;
  /// Whether messages that go there were measured; what a rank sends to itself is a copy.
  bool measured(Way way) const { return way == Way::self || curves_[size_t(way)] != nullptr; }
  sim::Time copy(int64_t bytes) const;
  sim::Time posting() const { return posting_; }  ///< of a receive
  /// The machine's, with the ports as they are taken here.
  const machine::Machine& machine() const { return machine_; }
  const machine::Profile& profile() const { return profile_; }
  machine::Bound bound() const { return bound_; }
  /// What the costs lack, a line each.
  const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  double seconds(Way way, double bytes) const;

  const placement::Placement& placement_;
  const machine::Profile& profile_;
  machine::Bound bound_;
  machine::Machine machine_;
  std::array<const machine::Curve*, kWays> curves_{};
  sim::Time posting_;
  std::vector<std::string> lacking_;
};

}  // namespace haichi::predict
