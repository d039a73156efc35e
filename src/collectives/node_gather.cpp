#include <algorithm>

#include "collectives/leaders.h"
#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

using plan::copy_step;
using plan::receive_step;
using plan::send_step;

Leaders leaders_of(const Exchange& x, const Parameters& parameters) {
  return {*x.placement, x.placement->node_of(x.me), parameters.leaders};
}

int64_t bytes_of(const Exchange& x, std::span<const int> ranks) {
  if (x.regular()) return x.block * int64_t(ranks.size());
  int64_t sum = 0;
  for (const int rank : ranks) sum += x.bytes_from(rank);
  return sum;
}

/// Bytes of all nodes that a leader of this node serves.
int64_t bytes_served(const Exchange& x, const Leaders& nodes, int leader) {
  int64_t sum = 0;
  for (int turn = leader + 1; turn < nodes.count(); turn += nodes.leaders())
    sum += bytes_of(x, nodes.ranks_at(turn));
  return sum;
}

/// Bytes of all other nodes: the first area of the temporary memory, [leader][node][rank there].
/// Behind it lies what this rank's node has to send.
int64_t bytes_elsewhere(const Exchange& x, const Leaders& nodes) {
  int64_t sum = 0;
  for (int turn = 1; turn < nodes.count(); ++turn) sum += bytes_of(x, nodes.ranks_at(turn));
  return sum;
}

}  // namespace

int64_t node_gather_temporary(const Exchange& x, const Parameters& parameters) {
  const Leaders nodes = leaders_of(x, parameters);
  return bytes_elsewhere(x, nodes) + bytes_of(x, nodes.ranks());
}

plan::StepGenerator node_gather(Exchange x, Parameters parameters) {
  const Leaders nodes = leaders_of(x, parameters);
  const std::span<const int> mates = nodes.ranks();
  const int leaders = nodes.leaders(), place = x.placement->local_index(x.me);

  // Everybody of the node gets everybody's block.
  for (const int mate : mates)
    if (mate != x.me && x.bytes_from(mate) > 0) co_yield receive_step(mate, x.receive_block(mate));
  for (const int mate : mates)
    if (mate != x.me && x.bytes_to(mate) > 0) co_yield send_step(mate, x.send_block(mate));
  if (x.moves_own()) co_yield own_copy(x);
  co_yield plan::wait_step();

  // From node to node.
  int64_t mine = 0;  // where the blocks of the nodes that this rank serves begin
  for (int leader = 0; leader < std::min(place, leaders); ++leader)
    mine += bytes_served(x, nodes, leader);
  const int64_t ours = bytes_elsewhere(x, nodes);
  if (place < leaders && place + 1 < nodes.count()) {
    int64_t at = mine;
    for (int turn = place + 1; turn < nodes.count(); turn += leaders) {
      const int64_t bytes = bytes_of(x, nodes.ranks_at(turn));
      if (bytes > 0) co_yield receive_step(nodes.partner(turn), Exchange::temporary(at, bytes));
      at += bytes;
    }
    at = ours;
    for (const int mate : mates) {
      const plan::Slice block = x.receive_block(mate);
      if (block.size > 0) co_yield copy_step(x.me, block, Exchange::temporary(at, block.size));
      at += block.size;
    }
    for (int turn = place + 1; turn < nodes.count() && at > ours; turn += leaders)
      co_yield send_step(nodes.partner(turn), Exchange::temporary(ours, at - ours));
    co_yield plan::wait_step();
  }

  // The leaders deal out.
  int64_t at = 0;
  for (int leader = 0; leader < leaders; ++leader) {
    const int64_t bytes = bytes_served(x, nodes, leader);
    const plan::Slice share = Exchange::temporary(at, bytes);
    at += bytes;
    if (bytes == 0) continue;
    if (leader != place) co_yield receive_step(mates[size_t(leader)], share);
    for (const int mate : mates)
      if (leader == place && mate != x.me) co_yield send_step(mate, share);
  }
  co_yield plan::wait_step();
  at = 0;
  for (int leader = 0; leader < leaders; ++leader)
    for (int turn = leader + 1; turn < nodes.count(); turn += leaders)
      for (const int rank : nodes.ranks_at(turn)) {
        const plan::Slice block = x.receive_block(rank);
        if (block.size > 0) co_yield copy_step(x.me, Exchange::temporary(at, block.size), block);
        at += block.size;
      }
}

// The three phases one after the other, as a leader of the fullest node sees them.
Terms node_gather_time(const Question& q, const Parameters& parameters) {
  const int leading = parameters.leaders == 0 ? q.mates() : std::min(parameters.leaders, q.mates());
  const double mates = q.mates(), others = q.ranks() - mates, leaders = leading;
  const double block = double(q.block), share = others / leaders * block;
  const double nodes = (q.nodes() - 2 + leading) / leading;  // that a leader exchanges with
  const double message = mates * block;
  const Load& load = q.traffic->uniform();
  Terms terms;
  terms[Term::messages] = (mates - 1) * (q.work(block) + q.work(share)) + nodes * q.work(message);
  terms[Term::copies] = (mates - 1) * (q.copies(block, true) + q.copies(share, true)) +
                        nodes * q.copies(message, false) + q.copy(message) +
                        q.copy(others * block) + q.copy(block);
  terms[Term::latency] =
      q.local_way(block) + q.way(message, load.hops) + (mates > 1 ? q.local_way(share) : 0);
  // A uniform exchange of one block for each pair of nodes' ranks has as many more.
  const double port = q.on_port(load.ports / mates, block);
  const double link = q.on_link(load.links / mates, block);
  const double hidden = nodes * (q.work(message) + q.copies(message, false));
  terms[Term::ports] = std::max(0.0, port - hidden);
  terms[Term::links] = std::max(0.0, link - std::max(port, hidden));
  return terms;
}

}  // namespace haichi::collectives
