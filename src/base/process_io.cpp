#include "base/process_io.h"

#include <algorithm>
#include <charconv>

#include "base/os.h"

namespace haichi {
namespace {

std::optional<int64_t> number_behind(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name)) continue;
    int64_t number = 0;
    const char* const end = line.data() + line.size();
    const auto [stopped, error] = std::from_chars(line.data() + name.size(), end, number);
    if (error == std::errc() && stopped == end) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ProcessIo> process_io() {
  const auto text = read_file("/proc/self/io");
  return text ? parse_process_io(*text) : std::nullopt;
}

std::optional<ProcessIo> parse_process_io(std::string_view text) {
  const auto read = number_behind(text, "read_bytes: ");
  const auto written = number_behind(text, "write_bytes: ");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

}  // namespace haichi
