#include "base/log.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace haichi {
namespace {

// Plain data on purpose: preload objects have no global constructors.
constinit LogLevel g_level = LogLevel::warn;
constinit char g_prefix[64] = "haichi";

}  // namespace

LogLevel log_level(std::string_view word) {
  if (word == "error") return LogLevel::error;
  if (word == "info") return LogLevel::info;
  return word == "debug" ? LogLevel::debug : LogLevel::warn;
}

void set_log(LogLevel level, std::string_view prefix) {
  g_level = level;
  const size_t n = prefix.size() < sizeof g_prefix - 1 ? prefix.size() : sizeof g_prefix - 1;
  memcpy(g_prefix, prefix.data(), n);
  g_prefix[n] = 0;
}

bool log_enabled(LogLevel level) { return level <= g_level; }

void log_line(LogLevel level, std::string_view text) {
  if (!log_enabled(level)) return;
  constexpr const char* names[] = {"error", "warning", "info", "debug"};
  const std::string line = fmt::format("{}: {}: {}\n", g_prefix, names[int(level)], text);
  const int saved = errno;
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  errno = saved;
}

}  // namespace haichi
