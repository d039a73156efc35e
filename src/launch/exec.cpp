#include "launch/exec.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "base/log.h"
#include "base/os.h"
#include "launch/effective.h"
#include "placement/formats.h"

namespace haichi::launch {
namespace {

Status check_placement(const std::string& path, int ranks) {
  if (path.empty()) return {};
  const auto text = read_file(path);
  if (!text) return fail(EINVAL, "HAICHI_PLACEMENT: {}", text.error().text);
  // Without a launcher that tells the job's size, MPI_Init is the first who can compare.
  if (ranks == 0) return {};
  if (const auto placement = placement::parse(*text, ranks); !placement)
    return fail(EINVAL, "HAICHI_PLACEMENT={}: {}", path, placement.error().text);
  return {};
}

// Takes the words of the setting `log`, which has been checked.
LogLevel log_level(std::string_view word) {
  if (word == "error") return LogLevel::error;
  if (word == "info") return LogLevel::info;
  return word == "debug" ? LogLevel::debug : LogLevel::warn;
}

constexpr useconds_t kOthersMayCome_us = 300'000;

// True for the first of the processes that one launcher started on this node, as long as that one
// lives. The name is of Linux's abstract sockets (unix(7)): there is no file, and it is gone with
// the process.
bool first_to_say(const std::string& text) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name =
      fmt::format("haichi-{}-{}-{:x}", getuid(), getppid(), std::hash<std::string>()(text));
  memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno != EADDRINUSE;
}

}  // namespace

int refuse(ExitCode code, const std::string& text) {
  const bool of_a_job = !job_from(Environment(environ)).launcher.empty();
  if (of_a_job && !first_to_say(text)) return code;
  log_line(LogLevel::error, text);
  if (of_a_job) usleep(kOthersMayCome_us);
  return code;
}

Result<Settings> apply_settings(const Job& job, const std::vector<std::string>& assignments,
                                Environment& environment) {
  const auto effective = effective_settings(environment, assignments);
  if (!effective) return tl::unexpected(effective.error());
  for (const Effective& row : effective->rows)
    if (!row.problem.empty()) return fail(EINVAL, "{}", row.problem);
  export_settings(*effective, environment);
  Settings settings = Settings::from_environment(environment.pointers().data());
  set_log(log_level(settings.text("log")), "haichi");
  if (job.rank == 0)
    for (const std::string& warning : effective->warnings) log_line(LogLevel::warn, warning);
  if (auto fits = check_placement(settings.text("placement"), job.ranks); !fits)
    return tl::unexpected(fits.error());
  return settings;
}

int become(const std::string& path, std::vector<std::string> words, Environment& environment) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // With a slash in the path nothing is searched; execvpe rather than execve for the sake of
  // scripts without #!, which it gives to /bin/sh as every shell does.
  execvpe(path.c_str(), arguments.data(), environment.pointers().data());
  return refuse(kNotExecutable, fmt::format("cannot execute {}: {}", path, strerror(errno)));
}

}  // namespace haichi::launch
