// What it costs the ranks to agree on the times of a round of trials: an allreduce of a few
// numbers.
#pragma once

#include "collectives/exchange.h"
#include "plan/step_generator.h"
#include "plan/steps.h"

namespace haichi::study {

/// ceil(log2 P) exchanges with the ranks 1, 2, 4, ... further, of x.block bytes each: the steps of
/// recursive doubling, which MPI libraries take for so few bytes, for any number of ranks.
inline plan::StepGenerator agreement(collectives::Exchange x) {
  for (int distance = 1; distance < x.ranks(); distance *= 2) {
    co_yield plan::receive_step(x.shifted(-distance), x.temporary(x.block, x.block));
    co_yield plan::send_step(x.shifted(distance), x.temporary(0, x.block));
    co_yield plan::wait_step();
  }
}

}  // namespace haichi::study
