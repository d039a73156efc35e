#include "launch/exec.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/clock.h"
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

// How long one waits for the others of its node: in all, if it knows how many there are, else for
// the next one.
constexpr int kOthersCome_ms = 2000, kAnotherComes_ms = 300;
constexpr int kLooksAgain_ms = 10;  // whether the first one is still there

// Where the processes that one launcher started on this node meet who have the same to say. The
// name is of Linux's abstract sockets (unix(7)): there is no file, and it is gone with the process
// that has it.
class Meeting {
 public:
  explicit Meeting(const std::string& text)
      : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    address_.sun_family = AF_UNIX;
    const std::string name =
        fmt::format("haichi-{}-{}-{:x}", getuid(), getppid(), std::hash<std::string>()(text));
    memcpy(address_.sun_path + 1, name.data(), name.size());
    size_ = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  ~Meeting() {
    if (fd_ >= 0) close(fd_);
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  bool first() const { return fd_ < 0 || bind(fd_, address(), size_) == 0 || errno != EADDRINUSE; }
  /// Tells the first one that this one has come, too, and stays until it goes: where one fails the
  /// launcher may end the others, and without the first one who comes late would say it again.
  void come() const {
    const int64_t end_ns = now_ns() + int64_t{kOthersCome_ms} * 1'000'000;
    bool told = false;
    while (connect(fd_, address(), size_) == 0 && now_ns() < end_ns) {
      told = told || send(fd_, "", 1, MSG_NOSIGNAL) == 1;
      poll(nullptr, 0, kLooksAgain_ms);
    }
  }
  /// Until all `others` have come; 0: as long as they do.
  void wait_for(int others) const {
    const int64_t end_ns = now_ns() + int64_t{kOthersCome_ms} * 1'000'000;
    for (int came = 0; others == 0 || came < others; ++came) {
      const int left_ms = int((end_ns - now_ns()) / 1'000'000);
      pollfd waiting = {fd_, POLLIN, 0};
      char word;
      if (poll(&waiting, 1, others == 0 ? kAnotherComes_ms : std::max(left_ms, 0)) <= 0 ||
          recv(fd_, &word, sizeof word, 0) < 0)
        return;
    }
  }

 private:
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  const int fd_;
  sockaddr_un address_ = {};
  socklen_t size_ = 0;
};

}  // namespace

int refuse(ExitCode code, const std::string& text) {
  const Job job = job_from(Environment(environ));
  if (job.launcher.empty()) {
    log_line(LogLevel::error, text);
    return code;
  }
  const Meeting meeting(text);
  if (!meeting.first()) {
    meeting.come();
    return code;
  }
  log_line(LogLevel::error, text);
  if (job.ranks_here != 1) meeting.wait_for(std::max(job.ranks_here - 1, 0));
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

int become_beside(std::string_view name, std::string_view needs, Invocation invocation) {
  const std::string path = fmt::format("{}/{}", invocation.bin, name);
  if (access(path.c_str(), X_OK) != 0)
    return refuse(kUnavailable,
                  fmt::format("{} is not there; `./haichi build` makes it{}", path, needs));
  invocation.words.insert(invocation.words.begin(), path);
  return become(path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
