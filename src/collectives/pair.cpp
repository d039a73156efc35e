#include <bit>

#include "collectives/steps.h"

namespace haichi::collectives {

// With a power of two of ranks partners differ in the bits of the step's number; else rank r meets
// step - r, so that over P steps everybody meets everybody, and itself once (a round-robin
// tournament).
plan::StepGenerator pair(Exchange x, Parameters) {
  const int ranks = x.ranks();
  const bool power_of_two = std::has_single_bit(unsigned(ranks));
  for (int step = 0; step < ranks; ++step) {
    const int peer = power_of_two ? x.me ^ step : (step - x.me + ranks) % ranks;
    if (peer == x.me) {
      if (x.moves_own()) co_yield own_copy(x);
      continue;
    }
    if (x.bytes_from(peer) > 0) co_yield plan::receive_step(peer, x.receive_block(peer));
    if (x.bytes_to(peer) > 0) co_yield plan::send_step(peer, x.send_block(peer));
    co_yield plan::wait_step();
  }
}

}  // namespace haichi::collectives
