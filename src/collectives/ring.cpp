// The four rings of paper 004 (Table 1; the algorithms are those of STAR-MPI, its [1]).
#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

using plan::receive_step;
using plan::send_step;
using plan::Slice;
using plan::Step;
using plan::wait_step;

enum class InStep { nothing, one_barrier, barriers, words };

// A message of no bytes.
Slice nothing() { return Exchange::temporary(0, 0); }

// The barrier is written out as messages (dissemination, ceil(log2 P) rounds), so that it runs and
// costs in every executor what it does.
plan::StepGenerator ring_kept(Exchange x, InStep kept) {
  if (x.bytes_to(x.me) > 0) co_yield own_copy(x);
  for (int step = 1; step < x.ranks(); ++step) {
    if (kept == InStep::barriers || (kept == InStep::one_barrier && step == 1))
      for (int distance = 1; distance < x.ranks(); distance *= 2) {
        co_yield receive_step(x.shifted(-distance), nothing());
        co_yield send_step(x.shifted(distance), nothing());
        co_yield wait_step();
      }
    const int to = x.shifted(step), from = x.shifted(-step);
    if (kept == InStep::words) {
      co_yield receive_step(to, nothing());
      co_yield send_step(from, nothing());
      co_yield wait_step();
    }
    if (x.bytes_from(from) > 0) co_yield receive_step(from, x.receive_block(from));
    if (x.bytes_to(to) > 0) co_yield send_step(to, x.send_block(to));
    co_yield wait_step();
  }
}

}  // namespace

plan::StepGenerator ring(Exchange x, Parameters) { return ring_kept(x, InStep::nothing); }
plan::StepGenerator ring_one_barrier(Exchange x, Parameters) {
  return ring_kept(x, InStep::one_barrier);
}
plan::StepGenerator ring_mpi_barrier(Exchange x, Parameters) {
  return ring_kept(x, InStep::barriers);
}
plan::StepGenerator ring_light_barrier(Exchange x, Parameters) {
  return ring_kept(x, InStep::words);
}

}  // namespace haichi::collectives
