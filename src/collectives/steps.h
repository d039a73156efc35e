// The generators and predictions behind the rows of the table in algorithm.cpp, and what they
// share.
//
// PURE.
#pragma once

#include "collectives/cost.h"
#include "collectives/exchange.h"
#include "collectives/parameters.h"
#include "plan/step_generator.h"
#include "plan/steps.h"

namespace haichi::collectives {

/// All receives posted, then all sends in an issue order, at most a window of them outstanding, and
/// one wait: "Simple Spread" of paper 004, in the orders of paper 000.
plan::StepGenerator spread(Exchange x, Parameters parameters);
Terms spread_time(const Question& q, const Parameters& parameters);

/// Paper 004, Table 1: at step i to the rank i after this one and from the rank i before it, each
/// step waiting for the one before. The others add something that keeps ranks in step:
/// one barrier at the start; a barrier before every step; before every step a word from the
/// receiver that it is ready.
plan::StepGenerator ring(Exchange x, Parameters parameters);
plan::StepGenerator ring_one_barrier(Exchange x, Parameters parameters);
plan::StepGenerator ring_mpi_barrier(Exchange x, Parameters parameters);
plan::StepGenerator ring_light_barrier(Exchange x, Parameters parameters);
Terms ring_time(const Question& q, const Parameters& parameters);
Terms ring_one_barrier_time(const Question& q, const Parameters& parameters);
Terms ring_mpi_barrier_time(const Question& q, const Parameters& parameters);
Terms ring_light_barrier_time(const Question& q, const Parameters& parameters);

/// At each step two ranks exchange with each other. It takes the time of a ring.
plan::StepGenerator pair(Exchange x, Parameters parameters);

/// Bruck et al. (1997) with any radix k: log_k P steps of k-1 messages, each block travels up to
/// log_k P times. Regular exchanges only.
plan::StepGenerator bruck(Exchange x, Parameters parameters);
int64_t bruck_temporary(const Exchange& x, const Parameters& parameters);
Terms bruck_time(const Question& q, const Parameters& parameters);

/// Blocks for another node are gathered on one rank of the node, go there in one message, and are
/// dealt out. Several ranks ("leaders") of a node share the other nodes. Nodes may have unequal
/// numbers of ranks. Regular exchanges only.
plan::StepGenerator node_aware(Exchange x, Parameters parameters);
int64_t node_aware_temporary(const Exchange& x, const Parameters& parameters);
Terms node_aware_time(const Question& q, const Parameters& parameters);

/// All-gather: every rank is in a table ordered by node, and at each step hands the block that it
/// got last to the next one in it. On every node one rank receives from another node and one sends
/// to another: P-1 blocks, whatever the placement, where at least P-m must, m the node's ranks.
plan::StepGenerator relay(Exchange x, Parameters parameters);
Terms relay_time(const Question& q, const Parameters& parameters);

/// All-gather, Bruck et al. (1997) with any radix k: a rank that has the blocks of h ranks gets
/// those of (k-1) h more, in ceil(log_k P) steps. Ranks are counted in the same table.
plan::StepGenerator doubling(Exchange x, Parameters parameters);
int64_t doubling_temporary(const Exchange& x, const Parameters& parameters);
Terms doubling_time(const Question& q, const Parameters& parameters);

/// All-gather: the ranks of a node exchange their blocks, one of them sends all to another node,
/// and what comes from there is dealt out. Several ranks ("leaders") of a node share the other
/// nodes. Nodes may have unequal numbers of ranks.
plan::StepGenerator node_gather(Exchange x, Parameters parameters);
int64_t node_gather_temporary(const Exchange& x, const Parameters& parameters);
Terms node_gather_time(const Question& q, const Parameters& parameters);

/// The block of this rank for itself.
inline plan::Step own_copy(const Exchange& x) {
  return plan::copy_step(x.me, x.send_block(x.me), x.receive_block(x.me));
}

}  // namespace haichi::collectives
