// JSON as readers of small files need it: failures as values, numbers without surprises.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace haichi {

/// Parses a whole text. The error (EINVAL) gives line and column; no exception leaves.
Result<nlohmann::json> parse_json(std::string_view text);

/// The value as JSON, cut short: for error texts, one line.
std::string shown(const nlohmann::json& value);

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string quoted(const std::string& text);

/// The value if it is a JSON integer that fits an int; neither 1.0 nor true is one.
std::optional<int> whole_number(const nlohmann::json& value);

}  // namespace haichi
