// The files that keep what each rank records until the record is written: a folder beside it.
#pragma once

#include <string>

namespace haichi::recorder {

/// Name of a folder for this job beside `record`, which nobody can know beforehand. On rank 0.
std::string part_folder_of(const std::string& record);

/// An empty file for a rank's part, and the folder if this node does not have it. -1 if there is
/// none to be had: the part is then lost if the job is killed.
int make_part_file(const std::string& folder, int rank);
/// The record is written: removes the file, and with the last one the folder.
void remove_part_file(const std::string& folder, int rank);

}  // namespace haichi::recorder
