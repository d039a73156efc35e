#include "measure/file_system.h"

namespace haichi::measure {
namespace {

// Takes the first word of a line, up to a space.
std::string_view next_word(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == line.npos ? line.size() : end + 1);
  return word;
}

// Blanks and backslashes stand in mounts as a backslash and three octal digits.
std::string unescaped(std::string_view word) {
  std::string plain;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 3 < word.size()) {
      plain += char((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 + (word[i + 3] - '0'));
      i += 3;
    } else {
      plain += word[i];
    }
  }
  return plain;
}

bool lies_in(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

std::string file_system_of(std::string_view path, std::string_view mounts) {
  std::string kind;
  size_t longest = 0;
  while (!mounts.empty()) {
    const size_t end = mounts.find('\n');
    std::string_view line = mounts.substr(0, end);
    mounts.remove_prefix(end == mounts.npos ? mounts.size() : end + 1);
    next_word(line);  // the device
    const std::string folder = unescaped(next_word(line));
    // Of those at one place the last one is on top.
    if (folder.empty() || folder.size() < longest || !lies_in(path, folder)) continue;
    longest = folder.size();
    kind = next_word(line);
  }
  return kind;
}

}  // namespace haichi::measure
