#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

plan::StepGenerator to_all(Exchange x, Parameters parameters) {
  for (int peer = 0; peer < x.ranks(); ++peer)
    if (peer != x.me && x.bytes_from(peer) > 0)
      co_yield plan::receive_step(peer, x.receive_block(peer));
  const plan::PeerOrder order(*x.placement, parameters.order, x.me);
  for (int k = 0; k < order.size(); ++k) {
    const int peer = order.peer(k);
    if (peer != x.me && x.bytes_to(peer) > 0) co_yield plan::send_step(peer, x.send_block(peer));
  }
  if (x.moves_own()) co_yield own_copy(x);  // while the messages travel
  co_yield plan::wait_step();
}

/// The places of the blocks for other ranks, in an issue order; of those for the same rank, in
/// theirs.
std::vector<int> places_to_send(const Exchange& x, plan::IssueOrder order) {
  const plan::PeerOrder peers(*x.placement, order, x.me);
  std::vector<std::pair<int, int>> found;
  for (int place = 0; place < x.blocks_sent(); ++place) {
    const int peer = x.neighbours->destinations[size_t(place)];
    if (peer != x.me && x.bytes_to(place) > 0) found.emplace_back(peers.position_of(peer), place);
  }
  std::sort(found.begin(), found.end());
  std::vector<int> places;
  for (const auto& [position, place] : found) places.push_back(place);
  return places;
}

plan::StepGenerator to_neighbours(Exchange x, std::vector<int> places) {
  const auto& [sources, destinations, receive_order] = *x.neighbours;
  for (const int place : receive_order)
    if (sources[size_t(place)] != x.me && x.bytes_from(place) > 0)
      co_yield plan::receive_step(sources[size_t(place)], x.receive_block(place));
  for (const int place : places)
    co_yield plan::send_step(destinations[size_t(place)], x.send_block(place));
  auto own = destinations.begin();
  for (const int place : receive_order) {  // while the messages travel
    if (sources[size_t(place)] != x.me) continue;
    own = std::find(own, destinations.end(), x.me);
    if (own == destinations.end()) break;
    const int from = int(own++ - destinations.begin());
    if (x.bytes_to(from) > 0)
      co_yield plan::copy_step(x.me, x.send_block(from), x.receive_block(place));
  }
  co_yield plan::wait_step();
}

}  // namespace

plan::StepGenerator spread(Exchange x, Parameters parameters) {
  return x.kind == Kind::neighbours ? to_neighbours(x, places_to_send(x, parameters.order))
                                    : to_all(x, parameters);
}

// Processor, ports and links are busy at the same time, and the longest counts: max((P-1) o, load x
// M/B) + L, where Table 1 of paper 004 has (P-1) L + (P-1) M/B.
Terms spread_time(const Question& q, const Parameters& parameters) {
  const double peers = q.ranks() - 1, local = q.mates() - 1, bytes = double(q.block);
  const Load& load = q.traffic->uniform();
  Terms terms;
  terms[Term::messages] = peers * q.work(bytes);
  terms[Term::copies] =
      (peers - local) * q.copies(bytes, false) + local * q.copies(bytes, true) + q.copy(bytes);
  double busy = terms.total();
  const auto beyond = [&busy](double time) {
    const double more = std::max(0.0, time - busy);
    busy += more;
    return more;
  };
  // A window that is full waits for the oldest send: of a rendezvous for its whole way.
  if (parameters.window > 0 && !q.eager(bytes)) {
    const double turn = q.way(bytes, load.hops) + q.work(bytes) + q.on_link(1, bytes);
    terms[Term::latency] = beyond((peers - local) / parameters.window * turn);
  }
  const double crowd =
      parameters.window == 0 ? 1 : std::min(1.0, parameters.window / std::max(1.0, peers));
  const double incast = 1 + (q.costs->incast - 1) * crowd;
  terms[Term::ports] = beyond(q.on_port(load.ports, bytes) * incast);
  terms[Term::links] = beyond(q.on_link(load.links, bytes));
  terms[Term::latency] += q.nodes() > 1 ? q.way(bytes, load.hops) : q.local_way(bytes);
  return terms;
}

}  // namespace haichi::collectives
