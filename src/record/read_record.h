// Reads haichi.record/1 (docs/guide/formats.md).
#pragma once

#include <istream>
#include <string>

#include "base/result.h"
#include "record/record.h"

namespace haichi::record {

/// What of a record is wanted: lines of the rest are passed over without being looked into.
struct Wanted {
  bool calls = true;
  bool traffic = true;
  bool sequences = true;
};

/// Reads a record. Lines of kinds that are not known, and members, are passed over. A file that is
/// cut off gives what is there, and a note.
///
/// Fails with EINVAL where a line is wrong; the error begins with its number ("line 7: ...").
Result<Record> read_record(std::istream& in, const Wanted& wanted = {});

/// Reads the file; the error begins with its name, and may be that of opening it.
Result<Record> read_record_file(const std::string& path, const Wanted& wanted = {});

}  // namespace haichi::record
