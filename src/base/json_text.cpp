#include "base/json_text.h"

#include <cerrno>
#include <climits>
#include <nlohmann/json.hpp>

namespace haichi {
namespace {

using nlohmann::json;

std::string cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  // Not in the middle of a UTF-8 character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text + "...";
}

}  // namespace

Result<json> parse_json(std::string_view text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string_view why(error.what());
    if (const size_t bracket = why.find("] "); bracket != why.npos) why.remove_prefix(bracket + 2);
    return fail(EINVAL, "{}", cut(std::string(why), 200));
  } catch (const std::exception& error) {
    return fail(EINVAL, "{}", cut(error.what(), 200));
  }
}

std::string shown(const json& value) {
  return cut(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<int> whole_number(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number <= INT_MAX) return int(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    if (number >= INT_MIN && number <= INT_MAX) return int(number);
  }
  return std::nullopt;
}

}  // namespace haichi
