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

// The regular files of a folder whose names are `wanted`.
template <class Wanted>
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const Wanted& wanted) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (wanted(each->path().filename().string()) && each->is_regular_file(error))
      found.push_back(each->path());
  return found;
}

}  // namespace

std::string scratch_path(const std::string& directory) {
  return fmt::format("{}/{}{}-{}", directory, prefix_of_host(), getpid(), now_ns());
}

int remove_scratch(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string prefix = whole.filename().string();
  std::error_code error;
  // Some libraries keep a shared file pointer in a file whose name is the file's behind a dot.
  const auto files = files_in(whole.parent_path(), [&](const std::string& name) {
    return name.starts_with(prefix) || name.starts_with("." + prefix);
  });
  int removed = 0;
  for (const auto& file : files) {
    std::filesystem::resize_file(file, 0, error);
    removed += std::filesystem::remove(file, error);
  }
  return removed;
}

int remove_left_over_scratch(const std::string& directory) {
  const std::string prefix = prefix_of_host();
  std::error_code error;
  int removed = 0;
  for (const auto& file :
       files_in(directory, [&](const std::string& name) { return is_left_over(name, prefix); }))
    removed += std::filesystem::remove(file, error);
  return removed;
}

}  // namespace haichi::measure
