// Which file system files are made on, for the file that has their times.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <string>
#include <string_view>

namespace haichi::measure {

/// The kind of file system of an absolute path, as `mounts` (the text of /proc/self/mounts) has it:
/// "ext4", "lustre", ... "" if it has none.
std::string file_system_of(std::string_view path, std::string_view mounts);

}  // namespace haichi::measure
