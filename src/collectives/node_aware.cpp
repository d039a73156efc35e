// Gather on the node, one message per pair of nodes, deal out.
#include <algorithm>

#include "collectives/leaders.h"
#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

using plan::copy_step;
using plan::receive_step;
using plan::send_step;
using plan::Slice;
using plan::wait_step;

// Temporary memory, in blocks. Each area is used for one thing after another.
struct Areas {
  int64_t block;
  int64_t others;  // ranks on other nodes
  int64_t mates;   // ranks on this node, this one included
  int64_t served;  // ranks on the nodes that this rank leads to; 0 if it is no leader

  // [leader][node][rank there]: what the leaders of the node get from this rank, later what it gets
  // from them.
  Slice own(int64_t at, int64_t blocks) const { return slice(at, blocks); }
  // [mate][node][rank there]: gathered; later [node][rank there][mate]: come from the other nodes.
  Slice come(int64_t at, int64_t blocks) const { return slice(others + at, blocks); }
  // [node][mate][rank there]: go to the other nodes; later [mate][node][rank there]: to deal out.
  Slice go(int64_t at, int64_t blocks) const { return slice(others + mates * served + at, blocks); }
  int64_t total() const { return (others + 2 * mates * served) * block; }

 private:
  Slice slice(int64_t at, int64_t blocks) const {
    return Exchange::temporary(at * block, blocks * block);
  }
};

Areas areas_of(const Exchange& x, const Leaders& nodes) {
  const auto mates = int64_t(nodes.ranks().size());
  const int place = x.placement->local_index(x.me);
  const int64_t served = place < nodes.leaders() ? nodes.ranks_served_by(place) : 0;
  return {x.block, x.ranks() - mates, mates, served};
}

Leaders leaders_of(const Exchange& x, const Parameters& parameters) {
  return {*x.placement, x.placement->node_of(x.me), parameters.leaders};
}

}  // namespace

int64_t node_aware_temporary(const Exchange& x, const Parameters& parameters) {
  return areas_of(x, leaders_of(x, parameters)).total();
}

plan::StepGenerator node_aware(Exchange x, Parameters parameters) {
  const Leaders nodes = leaders_of(x, parameters);
  const Areas areas = areas_of(x, nodes);
  const std::span<const int> mates = nodes.ranks();
  const int leaders = nodes.leaders(), place = x.placement->local_index(x.me);
  const bool leads = areas.served > 0;

  // Blocks for other nodes go to the leaders, and then those for this node straight to their ranks.
  for (int64_t m = 0; leads && m < areas.mates; ++m)
    if (m != place)
      co_yield receive_step(mates[size_t(m)], areas.come(m * areas.served, areas.served));
  for (const int mate : mates)
    if (mate != x.me) co_yield receive_step(mate, x.receive_block(mate));
  int64_t at = 0;
  for (int leader = 0; leader < leaders; ++leader) {
    const int64_t first = at;
    int64_t mine = place * areas.served;  // where this rank's blocks lie if it is the leader
    for (int turn = leader + 1; turn < nodes.count(); turn += leaders)
      for (const int rank : nodes.ranks_at(turn)) {
        const Slice to = leader == place ? areas.come(mine++, 1) : areas.own(at++, 1);
        co_yield copy_step(x.me, x.send_block(rank), to);
      }
    if (at > first) co_yield send_step(mates[size_t(leader)], areas.own(first, at - first));
  }
  for (const int mate : mates)
    if (mate != x.me) co_yield send_step(mate, x.send_block(mate));
  co_yield own_copy(x);
  co_yield wait_step();

  if (leads) {
    // From node to node.
    int64_t to = 0, from = 0;
    for (int turn = place + 1; turn < nodes.count(); turn += leaders) {
      const auto there = int64_t(nodes.ranks_at(turn).size());
      for (int64_t m = 0; m < areas.mates; ++m, to += there)
        co_yield copy_step(x.me, areas.come(m * areas.served + from, there), areas.go(to, there));
      from += there;
    }
    at = 0;
    for (int turn = place + 1; turn < nodes.count(); turn += leaders) {
      const int64_t blocks = int64_t(nodes.ranks_at(turn).size()) * areas.mates;
      co_yield receive_step(nodes.partner(turn), areas.come(at, blocks));
      at += blocks;
    }
    at = 0;
    for (int turn = place + 1; turn < nodes.count(); turn += leaders) {
      const int64_t blocks = int64_t(nodes.ranks_at(turn).size()) * areas.mates;
      co_yield send_step(nodes.partner(turn), areas.go(at, blocks));
      at += blocks;
    }
    co_yield wait_step();
  }

  // The leaders deal out.
  at = 0;
  for (int leader = 0; leader < leaders; ++leader) {
    const int64_t blocks = leader == place ? 0 : nodes.ranks_served_by(leader);
    if (blocks > 0) co_yield receive_step(mates[size_t(leader)], areas.own(at, blocks));
    at += blocks;
  }
  for (int64_t m = 0; leads && m < areas.mates; ++m) {
    int64_t to = m * areas.served, from = 0;
    for (int turn = place + 1; turn < nodes.count(); turn += leaders)
      for (const int rank : nodes.ranks_at(turn)) {
        const Slice there = m == place ? x.receive_block(rank) : areas.go(to, 1);
        co_yield copy_step(x.me, areas.come(from * areas.mates + m, 1), there);
        ++to, ++from;
      }
    if (m != place) co_yield send_step(mates[size_t(m)], areas.go(m * areas.served, areas.served));
  }
  co_yield wait_step();
  at = 0;
  for (int leader = 0; leader < leaders; ++leader)
    for (int turn = leader + 1; leader != place && turn < nodes.count(); turn += leaders)
      for (const int rank : nodes.ranks_at(turn))
        co_yield copy_step(x.me, areas.own(at++, 1), x.receive_block(rank));
}

// The three phases one after the other, as a leader of the fullest node sees them.
Terms node_aware_time(const Question& q, const Parameters& parameters) {
  const int leading = parameters.leaders == 0 ? q.mates() : std::min(parameters.leaders, q.mates());
  const double mates = q.mates(), others = q.ranks() - mates, leaders = leading;
  const double block = double(q.block);
  const double share = others / leaders * block;  // of a rank's blocks, what one leader takes
  const double nodes = (q.nodes() - 2 + leading) / leading;  // that it exchanges with
  const double message = mates * share / std::max(1.0, nodes);
  const Load& load = q.traffic->uniform();
  // From each rank to each leader, and back after the exchange.
  const double local = (mates - 1) + (leaders - 1);
  Terms terms;
  terms[Term::messages] =
      local * q.work(share) + (mates - 1) * q.work(block) + nodes * q.work(message);
  terms[Term::copies] = 2 * q.copy(others * block)             // packed, and unpacked
                        + local * q.copies(share, true)        // to and from the leaders
                        + (mates - 1) * q.copies(block, true)  // straight to ranks of the node
                        + 2 * q.copy(mates * share)            // leaders sort them
                        + nodes * q.copies(message, false) + q.copy(block);
  terms[Term::latency] = q.local_way(share) * 2 + q.way(message, load.hops);
  const double port = q.on_port(load.ports, block), link = q.on_link(load.links, block);
  const double hidden = nodes * (q.work(message) + q.copies(message, false));
  terms[Term::ports] = std::max(0.0, port - hidden);
  terms[Term::links] = std::max(0.0, link - std::max(port, hidden));
  return terms;
}

}  // namespace haichi::collectives
