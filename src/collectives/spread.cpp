#include <algorithm>

#include "collectives/steps.h"

namespace haichi::collectives {

plan::StepGenerator spread(Exchange x, Parameters parameters) {
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
