// The report of a run that has not come to its end, of the logs that its ranks have left
// (report/log_form.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace haichi::report {

/// haichi.report/1 with `cut`. `files` are the texts of the job's log files, one of each node; what
/// is damaged in them is left out and counted in a note. Fails if they are no logs, if they are of
/// several jobs, or if rank 0, which says what the job was, has left none.
Result<std::string> report_of_logs(const std::vector<std::string>& files);

}  // namespace haichi::report
