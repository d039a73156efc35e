// Ends the job if a measurement hangs: with a line that names it, rather than with the batch
// system's time limit.
#pragma once

#include <string>

namespace haichi::measure {

/// From here on the measurement may take `watch_seconds()`, or the process ends.
void keep_watch(const std::string& name);
void end_watch();
/// That a call of the measurement has failed on this rank while it is watched: why others may wait.
void tell_in_watch(const std::string& problem);
/// Of --patience; 0 waits for ever.
void set_watch_seconds(int seconds);

}  // namespace haichi::measure
