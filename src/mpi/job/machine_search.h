// Looks for the profile of this machine where nobody named one: in the user's folder, the site's
// and that of the installed tree.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/profile.h"
#include "placement/placement.h"

namespace haichi::mpi {

/// A folder of profiles.
struct MachineFolder {
  std::string path;
  bool exact = false;  ///< takes only what was measured on these very nodes
};

/// Those of this process, the first first: haichi/machines in XDG_DATA_HOME or ~/.local/share,
/// /etc/haichi/machines, and share/haichi/machines of the tree that this library is installed in.
std::vector<MachineFolder> machine_folders();

struct FoundMachine {
  std::string path, text;                   ///< empty: nothing fits
  std::optional<machine::Profile> profile;  ///< what the text says
  std::string why;                          ///< in words, why this one, or what was seen instead
};

/// The profile that agrees most with the job's machine; of several the first folder's, then the
/// newest. Only files of the caller or root, which nobody else may write, and no links. Looks at 64
/// files of a folder at most, of 1 MiB each, and reads what tells of the machine only if there are
/// any.
FoundMachine find_machine(const std::vector<MachineFolder>& folders,
                          const placement::Placement& world);

}  // namespace haichi::mpi
