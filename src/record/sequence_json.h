// The line "sequence" of haichi.record/1.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "record/sequence.h"

namespace haichi::record {

/// {"kind":"sequence","rank":0,...}, without a newline.
std::string sequence_line(int rank, const Sequence& sequence);

/// Reads such a line of a job of so many ranks. The error (EINVAL) says which member is wrong.
Result<Sequence> read_sequence(const nlohmann::json& line, int ranks);

}  // namespace haichi::record
