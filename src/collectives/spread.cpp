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
  if (x.bytes_to(x.me) > 0) co_yield own_copy(x);  // while the messages travel
  co_yield plan::wait_step();
}

}  // namespace haichi::collectives
