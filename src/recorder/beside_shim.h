// A recorder stands in front of the shim, and both find out together who is in the job. They must
// be of one build: an older shim would take the recorder's calls for something else.
#pragma once

namespace haichi::recorder {

/// Whether the shim of this process, if there is one, is of the recorder's build. Says so in one
/// line of the first rank if it is not.
bool fits_beside_shim();

}  // namespace haichi::recorder
