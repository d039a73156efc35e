// Ends the job if the replay hangs, with a line that says in which call, rather than with the batch
// system's time limit.
#pragma once

namespace haichi::replay {

/// Between progress() and the next may pass `patience` seconds (0: any time), up to twice that.
void begin_watch(int patience);
void end_watch();
/// `what` is what is done next; it must stay. Costs two stores.
void progress(const char* what);
const char* doing();

}  // namespace haichi::replay
