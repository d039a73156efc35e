#include "offline/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/number_text.h"
#include "base/os.h"

namespace haichi::offline {
namespace {

// The first number behind a word of a text; nothing if there is none.
std::optional<int64_t> number_behind(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  if (at == text.npos) return std::nullopt;
  const size_t begin = text.find_first_of("0123456789", at + word.size());
  if (begin == text.npos) return std::nullopt;
  const size_t end = std::min(text.size(), text.find_first_not_of("0123456789", begin));
  return whole_number<int64_t>(std::string_view(text).substr(begin, end - begin));
}

std::optional<int64_t> number_in(const std::string& file) {
  const auto text = read_file(file);
  return text ? number_behind(*text, "") : std::nullopt;
}

// Of control groups of version 2.
std::optional<int64_t> left_of_group() {
  const auto group = read_file("/proc/self/cgroup");
  const size_t at = group ? group->find("0::/") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::string path = group->substr(at + 3, group->find('\n', at) - at - 3);
  const auto most = number_in("/sys/fs/cgroup" + path + "/memory.max");
  const auto now = number_in("/sys/fs/cgroup" + path + "/memory.current");
  if (!most || !now) return std::nullopt;
  return std::max<int64_t>(0, *most - *now);
}

std::optional<int64_t> left_of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_in("/proc/self/statm");
  return std::max<int64_t>(0, int64_t(limit.rlim_cur) - pages.value_or(0) * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<int64_t> free_memory() {
  std::optional<int64_t> least;
  const auto consider = [&](std::optional<int64_t> bytes) {
    if (bytes) least = std::min(least.value_or(*bytes), *bytes);
  };
  const auto system = read_file("/proc/meminfo");
  if (system)
    if (const auto kib = number_behind(*system, "MemAvailable:")) consider(*kib * 1024);
  consider(left_of_group());
  consider(left_of_process());
  return least;
}

}  // namespace haichi::offline
