#include "numaio/mappings.h"

#include <string.h>

#include <charconv>
#include <optional>

#include "base/os.h"

namespace haichi::numaio {
namespace {

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// "7f00-7f10 rw-p 00000000 00:00 0    /name"
std::optional<Mapping> head_of(std::string_view line) {
  Mapping made{};
  const char* const end = line.data() + line.size();
  const auto [dash, first] = std::from_chars(line.data(), end, made.begin, 16);
  if (first != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [blank, second] = std::from_chars(dash + 1, end, made.end, 16);
  if (second != std::errc() || blank == end || *blank != ' ') return std::nullopt;
  size_t at = 0;
  for (int word = 0; word < 5 && at != line.npos; ++word) {
    at = line.find(' ', at);
    at = line.find_first_not_of(' ', at);
  }
  if (at != line.npos) made.name = line.substr(at);
  made.device = made.name.starts_with("/dev/") && !made.name.starts_with("/dev/shm/") &&
                !made.name.starts_with("/dev/zero") && !made.name.starts_with("/dev/hugepages/");
  return made;
}

// "Rss:     123 kB" in bytes
int64_t amount(std::string_view line) {
  const size_t at = line.find_first_of("0123456789");
  int64_t kib = 0;
  if (at != line.npos) std::from_chars(line.data() + at, line.data() + line.size(), kib);
  return kib * 1024;
}

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view smaps) {
  std::vector<Mapping> found;
  while (!smaps.empty()) {
    const std::string_view line = take_line(smaps);
    if (auto head = head_of(line)) {
      found.push_back(std::move(*head));
      continue;
    }
    if (found.empty()) continue;
    Mapping& last = found.back();
    const auto is = [&](std::string_view key) { return line.starts_with(key); };
    if (is("AnonHugePages:") || is("ShmemPmdMapped:") || is("FilePmdMapped:") ||
        is("Shared_Hugetlb:") || is("Private_Hugetlb:"))
      last.huge_bytes += amount(line);
    // Memory of a device has no pages of its own; "pf" is a mapping of bare addresses.
    if (is("VmFlags:") && (line.find(" pf") != line.npos || line.find(" io") != line.npos))
      last.device = true;
  }
  return found;
}

Result<std::vector<Mapping>> mappings_of(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/smaps", pid);
  const auto text = read_file(path);
  if (!text)
    return fail(text.error().code, "{} can't be read: {}", path, strerror(text.error().code));
  return parse_mappings(*text);
}

}  // namespace haichi::numaio
