// The four rings of paper 004 (Table 1; the algorithms are those of STAR-MPI, its [1]).
#include <algorithm>

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
  if (x.moves_own()) co_yield own_copy(x);
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

// Of the barrier above.
double barrier_time(const Question& q) {
  double time = 0;
  for (int distance = 1; distance < q.ranks(); distance *= 2) {
    const Load& load = q.traffic->shift(distance);
    time += q.work(0) + (load.ports > 0 ? q.way(0, load.hops) : q.local_way(0));
  }
  return time;
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

// Table 1 of paper 004: (P-1) (L + M/B), here with the work for each message; a barrier is L log2
// P, a word L. Steps are one after the other, so that nothing hides behind anything.
Terms ring_time(const Question& q, const Parameters&) {
  const double local = q.mates() - 1, far = q.ranks() - q.mates(), bytes = double(q.block);
  const Load& load = q.traffic->steps();
  Terms terms;
  terms[Term::latency] = far * q.way(bytes, load.hops) + local * q.local_way(bytes);
  terms[Term::messages] = (far + local) * q.work(bytes);
  terms[Term::copies] =
      far * q.copies(bytes, false) + local * q.copies(bytes, true) + q.copy(bytes);
  const double port = q.on_port(load.ports, bytes), link = q.on_link(load.links, bytes);
  terms[Term::ports] = (far + local) * port;
  terms[Term::links] = (far + local) * std::max(0.0, link - port);
  return terms;
}

Terms ring_one_barrier_time(const Question& q, const Parameters& parameters) {
  Terms terms = ring_time(q, parameters);
  terms[Term::barriers] = barrier_time(q);
  return terms;
}

Terms ring_mpi_barrier_time(const Question& q, const Parameters& parameters) {
  Terms terms = ring_time(q, parameters);
  terms[Term::barriers] = (q.ranks() - 1) * barrier_time(q);
  return terms;
}

Terms ring_light_barrier_time(const Question& q, const Parameters& parameters) {
  Terms terms = ring_time(q, parameters);
  const double far = q.ranks() - q.mates(), local = q.mates() - 1;
  terms[Term::barriers] =
      far * (q.way(0, q.traffic->steps().hops) + q.work(0)) + local * (q.local_way(0) + q.work(0));
  return terms;
}

}  // namespace haichi::collectives
