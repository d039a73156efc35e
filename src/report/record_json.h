// Records as JSON, as the report and the log of a rank have them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/records.h"

namespace haichi::report {

nlohmann::json to_json(const CallRecord& call);
nlohmann::json to_json(const FileRecord& file);
nlohmann::json to_json(const CollectiveRecord& record);
nlohmann::json to_json(const CollectiveAccesses& accesses);

/// On one line; bytes that are no UTF-8, as a path may have, are replaced.
std::string text_of(const nlohmann::json& value);

/// For the log of a rank.
std::string record_of_note(const std::string& text);

/// Without the fields that are empty or 0, which complete() puts back.
nlohmann::json shortened(nlohmann::json object);
/// Adds to an object what only `pattern` has.
void complete(nlohmann::json& object, const nlohmann::json& pattern);

}  // namespace haichi::report
