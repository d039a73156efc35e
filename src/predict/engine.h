// Runs the recorded sequences of all ranks on a machine's measured costs: the prediction by
// sequence.
//
// Each rank has a clock. Computing takes what was recorded; messages take what costs.h says, and
// wait for their other side, for ports and links; collective calls are schedules
// (collective_steps.h) whose messages take as much longer or shorter as makes the call right as it
// was measured, with all ranks coming at once. So late ranks, waiting and the critical path come
// out.
//
// Why beside sim/simulator.h and not in it: that runs schedules, which have rounds and neither tags
// nor open sources nor request slots nor computing, and it takes messages apart into numbers where
// here measured curves count as they are. Time, the queue of events and the network are sim's, and
// a collective call is a plan::Schedule here as there.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include "base/result.h"
#include "predict/costs.h"
#include "predict/job.h"

namespace haichi::predict {

/// Runs to the end, or as far as it goes: ranks that wait for what never comes are problems of the
/// outcome. Fails with EINVAL only if the job itself is none: not one sequence a rank, no such
/// network.
Result<Outcome> run(const Job& job, const Costs& costs, const Options& options = {});

}  // namespace haichi::predict
