#include "measure/scratch.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace haichi::measure {
namespace {

std::string prefix_of_host() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return fmt::format("haichi-measure-{}-", host);
}

// Whether the file's name says that it is of a process of this host that is gone.
bool is_left_over(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  int process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || process <= 0) return false;
  const std::string_view rest(end, size_t(name.data() + name.size() - end));
  return rest.starts_with("-") && kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

std::string scratch_path(const std::string& directory) {
  return fmt::format("{}/{}{}-{}", directory, prefix_of_host(), getpid(), now_ns());
}

int remove_left_over_scratch(const std::string& directory) {
  const std::string prefix = prefix_of_host();
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error))
    if (is_left_over(each->path().filename().string(), prefix) && each->is_regular_file(error))
      found.push_back(each->path());
  int removed = 0;
  for (const auto& path : found) removed += std::filesystem::remove(path, error);
  return removed;
}

}  // namespace haichi::measure
