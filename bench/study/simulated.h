// How long an exchange takes in the simulator.
#pragma once

#include <functional>
#include <memory>

#include "sim/simulator.h"

namespace haichi::study {

/// Seconds until the slowest rank is done with its schedule. Fails as sim::simulate does.
Result<double> simulated(const placement::Placement& placement, const machine::Machine& machine,
                         const std::function<std::unique_ptr<plan::Schedule>(int rank)>& schedule);

}  // namespace haichi::study
