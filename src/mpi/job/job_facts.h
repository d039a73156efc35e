// What a report says of the job as a whole.
#pragma once

#include "report/header.h"

namespace haichi::mpi {

class Runtime;

/// Of this process, with the time until now; it refers to what the runtime owns.
report::Job job_of(const Runtime& runtime);

}  // namespace haichi::mpi
