// Messages to standard error: lower case, the cause, one line each, silent unless asked.
//
// The level comes from HAICHI_LOG (error, warn, info, debug; default warn). Uses one write(2) per
// line, so that lines of many ranks do not mix, and allocates nothing of its own before that.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace haichi {

enum class LogLevel { error, warn, info, debug };

/// The level that a word of HAICHI_LOG names; warn for any other.
LogLevel log_level(std::string_view word);
/// Sets the level below which messages are dropped, and the text put before each of them.
void set_log(LogLevel level, std::string_view prefix);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> text, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace haichi
