// The commands of haichi-offline: what works on files, away from any job. Each takes the words
// after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/commands.h"
#include "launch/exec.h"
#include "placement/placement.h"

namespace haichi::offline {

using launch::refuse;
using enum launch::ExitCode;
using Arguments = std::vector<std::string>;

int simulate_command(const Arguments& arguments);
/// What `haichi predict --by sequence` starts.
int predict_sequence_command(const Arguments& arguments);
/// Prints a placement of any notation as haichi.placement/1.
int read_placement_command(const Arguments& arguments);
/// The same for the commands here; its errors name the file.
Result<placement::Placement> placement_of(const std::string& file, int ranks);
/// Write a record as GOAL, and print GOAL as a record; `haichi export` and `import` start them.
int write_goal_command(const Arguments& arguments);
int read_goal_command(const Arguments& arguments);
/// Prints the report of a run of the logs that its ranks have left, one file of each node.
int merge_logs_command(const Arguments& arguments);
/// Prints the record of a run of the parts that its ranks have left in a folder.
int merge_records_command(const Arguments& arguments);
/// Which rank belongs on which seat: standard input asks (map_request.h), standard output answers.
int map_command(const Arguments& arguments);

}  // namespace haichi::offline
