#include "recorder/part_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unguessable.h"

namespace haichi::recorder {
namespace {

constexpr int kFirstDescriptor = 200;  // programs may count on the small numbers

/// Of the caller's own; -1 if it can't be had.
int open_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return -1;
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts = {};
  if (folder >= 0 && (::fstat(folder, &facts) != 0 || facts.st_uid != geteuid())) {
    ::close(folder);
    errno = EPERM;
    return -1;
  }
  return folder;
}

int out_of_the_way(int fd) {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (moved < 0) return fd;
  ::close(fd);
  return moved;
}

}  // namespace

std::string part_folder_of(const std::string& record) {
  return fmt::format("{}.parts-{:016x}", record, unguessable_number());
}

int make_part_file(const std::string& folder, int rank) {
  const int where = open_folder(folder);
  int fd = -1;
  if (where >= 0) {
    fd = ::openat(where, std::to_string(rank).c_str(),
                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    ::close(where);
  }
  if (fd < 0) {
    log(LogLevel::info, "{}: {}: there is no record if the job is killed", folder, strerror(errno));
    return -1;
  }
  return out_of_the_way(fd);
}

void remove_part_file(const std::string& folder, int rank) {
  ::unlink(fmt::format("{}/{}", folder, rank).c_str());
  ::rmdir(folder.c_str());
}

}  // namespace haichi::recorder
