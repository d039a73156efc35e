// How ranks begin samples that do not follow each other: by the clock where they can tell it better
// than a barrier lets them go.
#pragma once

#include "measure/measurement.h"
#include "measure/run/options.h"

namespace haichi::measure {

struct StartChoice {
  Start start;
  double clock_error;  ///< of the ranks' common clock at most, seconds
  double barrier;      ///< what a barrier of all ranks takes, seconds, in the median
};

/// Collective over MPI_COMM_WORLD; the same on all ranks. Without a word of the user a window, if
/// the clock's error is below what a barrier takes and each rank has a core; ranks that share one
/// would wait for the time on the core that others need to be on time.
StartChoice choose_start(StartAsked asked, bool oversubscribed);

}  // namespace haichi::measure
