// A record of which only communicators and sequences are known, as haichi.record/1.
#pragma once

#include <string>

#include "record/record.h"

namespace haichi::goal {

/// All its lines. Sums of ranks are those of their sequences; there are no lines of calls and
/// traffic.
std::string record_text(const record::Record& record);

}  // namespace haichi::goal
