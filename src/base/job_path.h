// Names of files that are different for each job.
#pragma once

#include <string>

namespace haichi {

/// What the batch system calls this job; empty outside of one.
std::string job_id();

/// The path from the root, as the program may go elsewhere, with %j (the job's id, `outside` of a
/// job) and %p (this process) filled in.
std::string resolved_path(std::string path, const std::string& outside);

}  // namespace haichi
