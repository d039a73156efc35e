#include "gasfs/run/daemon.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/os.h"
#include "gasfs/run/commands.h"

namespace haichi::gasfs::run {

Result<Descriptor> end_descriptor(unsigned seconds) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) sigaddset(&ends, number);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  // A file system that holds a file at its size limit, or a socket that is gone, is an error value.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  Descriptor fd(::signalfd(-1, &ends, SFD_CLOEXEC));
  if (!fd) return fail(errno, "no signalfd: {}", std::strerror(errno));
  ::alarm(seconds);
  return fd;
}

Status announce(const std::string& path, const std::string& address, const std::string& node) {
  if (path.empty()) return {};
  const nlohmann::json json{{"schema", "haichi.gasfs-daemon/1"},
                            {"pid", ::getpid()},
                            {"address", address},
                            {"node", node}};
  return write_file_atomically(path, json.dump() + "\n");
}

int tell_end(const std::string& path, const Status& how) {
  const nlohmann::json json{{"schema", "haichi.gasfs-daemon-end/1"},
                            {"pid", ::getpid()},
                            {"stored", how.has_value()},
                            {"error", how ? "" : how.error().text}};
  if (!path.empty())
    if (auto told = write_file_atomically(path + ".end", json.dump() + "\n"); !told)
      refuse(kFailed, told.error().text);
  return how ? 0 : refuse(kFailed, how.error().text);
}

int refuse(int code, const std::string& text) {
  std::fprintf(stderr, "haichi gasfs: %s\n", text.c_str());
  return code;
}

}  // namespace haichi::gasfs::run
