// What a report says of the job as a whole.
#pragma once

#include <string>

#include "report/header.h"

namespace haichi::mpi {

class Runtime;

/// Of this process, with the time until now; it refers to what the runtime owns.
report::Job job_of(const Runtime& runtime);

/// The name of a report with %j and %p filled in for this process, from the root.
std::string resolved_report_path(std::string path);

}  // namespace haichi::mpi
