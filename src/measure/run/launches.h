// Several launches as one command: the launch is the unit of an experiment, since what differs from
// launch to launch (pages, cores, what the network did meanwhile) is the same for all samples of
// one.
#pragma once

#include <string>
#include <vector>

#include "measure/run/options.h"

namespace haichi::measure {

/// Starts `launcher` (mpiexec and its options) `options.launches` times, one after the other, with
/// this suite behind it; `words` are those of the command line that each gets. All write into one
/// file. Prints what the launches found, and returns an exit code of haichi measure.
int run_launches(const Options& options, const std::vector<std::string>& words,
                 const std::vector<std::string>& launcher);

}  // namespace haichi::measure
