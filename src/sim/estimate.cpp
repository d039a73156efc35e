#include "sim/estimate.h"

#include <algorithm>
#include <utility>

namespace haichi::sim {
namespace {

// Of one core of an AMD EPYC, measured: see docs/guide/simulation.md, "The cost".
constexpr double kEagerSeconds = 0.3e-6, kRendezvousSeconds = 0.9e-6, kCopySeconds = 0.04e-6;
// Of memory: the program, a rank with its schedule and its links, a packet in a queue, a receive
// that waits in a table of its own size or in one that is as large as the number of ranks.
constexpr double kProgram = 16e6, kRank = 4500, kPacket = 40, kInSmallTable = 16, kInFullTable = 4;
constexpr int kPairsSeenUpTo = 16384;

// Of one rank.
struct Use {
  double messages = 0, seconds = 0, receives = 0, packets = 0;
};

class Count {
 public:
  Count(const Machine& machine, double on_a_node) : machine_(machine), on_a_node_(on_a_node) {}

  Use of(plan::Schedule& schedule) {
    plan::Step step;
    while (schedule.next(step)) add(step);
    settle();
    return use_;
  }

 private:
  void add(const plan::Step& step) {
    using Kind = plan::Step::Kind;
    if (step.kind == Kind::wait || step.kind == Kind::round) settle();
    if (step.kind == Kind::receive) ++receives_;
    if (step.kind == Kind::copy) use_.seconds += kCopySeconds;
    if (step.kind != Kind::send) return;
    const auto bytes = double(step.from.size);
    const bool eager = bytes <= machine_.eager_bytes;
    ++use_.messages;
    use_.seconds += eager ? kEagerSeconds : kRendezvousSeconds;
    // What of the messages that are issued stays before the node's port: it is slower than ranks.
    const double issue = machine_.send_ns + bytes / machine_.copy_gbs;
    const double port = on_a_node_ * bytes / machine_.out_gbs;
    packets_ += eager ? std::max(0.0, 1 - issue / std::max(port, 1e-9)) : 1;
  }
  void settle() {
    use_.receives = std::max(use_.receives, std::exchange(receives_, 0));
    use_.packets = std::max(use_.packets, std::exchange(packets_, 0));
  }

  const Machine& machine_;
  const double on_a_node_;
  Use use_;
  double receives_ = 0, packets_ = 0;  // since the last wait
};

}  // namespace

Estimate estimate(const placement::Placement& placement, const Machine& machine,
                  const std::vector<plan::Schedule*>& some) {
  const double ranks = placement.ranks();
  Use mean;
  for (plan::Schedule* const schedule : some) {
    const Use use = Count(machine, ranks / placement.nodes()).of(*schedule);
    const double share = 1.0 / double(some.size());
    mean.messages += share * use.messages;
    mean.seconds += share * use.seconds;
    mean.receives += share * use.receives;
    mean.packets += share * use.packets;
  }
  const double each = 4 * mean.receives > ranks
                          ? kInFullTable * ranks / std::max(1.0, mean.receives)
                          : kInSmallTable;
  const double pairs = placement.ranks() <= kPairsSeenUpTo ? ranks * ranks / 8 : 0;
  const double of_a_rank = kRank + mean.receives * each + mean.packets * kPacket;
  return {int64_t(ranks * mean.messages), int64_t(kProgram + pairs + ranks * of_a_rank),
          ranks * mean.seconds};
}

}  // namespace haichi::sim
