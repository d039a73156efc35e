// Names of the files that MPI-IO is measured with, and what to do about those of a job that was
// killed before it could delete them.
#pragma once

#include <string>

namespace haichi::measure {

/// A path in `directory` that no other job has; it tells host and process.
std::string scratch_path(const std::string& directory);
/// Gives back what the files take whose names begin with such a path, also where they are still
/// open: makes them empty and deletes them. How many there were. Ranks may do so at one time.
int remove_scratch(const std::string& path);
/// Deletes the files of jobs that ended on this host; how many there were. Those of living
/// processes and of other hosts stay.
int remove_left_over_scratch(const std::string& directory);

}  // namespace haichi::measure
