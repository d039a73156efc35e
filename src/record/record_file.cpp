#include "record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "base/os.h"
#include "base/unguessable.h"

namespace haichi::record {
namespace {

tl::unexpected<Error> refused(const std::string& path, int code, const char* why = nullptr) {
  return fail(code, "cannot write {}: {}", path, why ? why : strerror(code));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<RecordFile> RecordFile::create(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return refused(path, errno);
  RecordFile file(path, folder, fmt::format(".haichi-{:016x}.tmp", unguessable_number()), -1);
  struct stat facts = {};
  if (::fstatat(folder, name_of(path).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISREG(facts.st_mode))
      return refused(path, EEXIST, "what is there is no file; give the record another name");
  } else if (errno != ENOENT || name_of(path).empty()) {
    return refused(path, errno == ENOENT ? EISDIR : errno);
  }
  file.fd_ = ::openat(folder, file.temporary_.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return refused(path, errno);
  return file;
}

RecordFile::RecordFile(std::string path, int folder, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), folder_(folder), fd_(fd) {}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      folder_(std::exchange(other.folder_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      status_(std::move(other.status_)) {}

RecordFile::~RecordFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlinkat(folder_, temporary_.c_str(), 0);
  }
  if (folder_ >= 0) ::close(folder_);
}

bool RecordFile::add(std::string_view text) {
  if (!status_) return false;
  if (!real_os().may_grow_to(size_ + int64_t(text.size())))
    status_ = refused(path_, EFBIG);
  else
    status_ = write_fully(real_os(), fd_, std::as_bytes(std::span(text)), size_);
  size_ += int64_t(text.size());
  return status_.has_value();
}

Status RecordFile::finish() {
  if (!status_) return fail(status_.error().code, "{}: {}", path_, status_.error().text);
  const int fd = std::exchange(fd_, -1);
  int code = ::close(fd) == 0 ? 0 : errno;
  if (code == 0 && ::renameat(folder_, temporary_.c_str(), folder_, name_of(path_).c_str()) != 0)
    code = errno;
  if (code == 0) return {};
  ::unlinkat(folder_, temporary_.c_str(), 0);
  return refused(path_, code);
}

}  // namespace haichi::record
