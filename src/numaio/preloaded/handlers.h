// Which signals may have a handler of the program's, and whether one may be running. A handler may
// have interrupted malloc(3) or whatever else takes a lock, so that nothing may be split there.
//
// A thread has no mark of being in a handler, but the kernel blocks a signal while its handler
// runs, or has taken the handler away before. So the handlers are noted when they are set.
#pragma once

#include <signal.h>

namespace haichi::numaio::preloaded {

inline bool is_handler(sighandler_t given) { return given != SIG_DFL && given != SIG_IGN; }

/// From now on a handler may run for the signal.
void note_handler(int number);
/// The same of one that is not blocked meanwhile. If `leaves`, it is taken away when it begins to
/// run; else whoever asks may be in it, from now on.
void note_unblocked_handler(int number, bool leaves);

/// Whether a handler has ever been set for the signal.
bool may_be_handled(int number);
/// Whether this thread may be in a handler.
bool may_be_handler();

}  // namespace haichi::numaio::preloaded
