#include "measure/samples_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "measure/records.h"

namespace haichi::measure {
namespace {

using Json = nlohmann::ordered_json;

Result<int> open_for_lines(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return fail(errno, "{} can't be written: {}", path, strerror(errno));
  return fd;
}

int64_t size_of_regular(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? int64_t(info.st_size) : 0;
}

// In a form that differs from a number or text that is missing.
std::string shown(const Json& record, const char* field) {
  return record.contains(field) ? record[field].dump() : "nothing";
}

}  // namespace

Json what_must_be_alike(const Json& launch) {
  Json alike;
  for (const char* field : {"library", "job_ranks", "nodes_of_ranks", "under"})
    if (launch.contains(field)) alike[field] = launch[field];
  return alike;
}

std::string new_samples_name() {
  const time_t now = time(nullptr);
  tm parts;
  localtime_r(&now, &parts);
  char text[64];
  strftime(text, sizeof text, "samples-%Y%m%d-%H%M%S.jsonl", &parts);
  return text;
}

SamplesFile::~SamplesFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<SamplesFile> SamplesFile::create(const std::string& path) {
  const auto fd = open_for_lines(path);
  if (!fd) return tl::unexpected(fd.error());
  SamplesFile file(*fd, path);
  if (size_of_regular(*fd) > 0)
    return fail(EEXIST, "{} is there already: --resume goes on with it, --out names another file",
                path);
  return file;
}

Result<SamplesFile> SamplesFile::resume(const std::string& path, const Json& alike,
                                        int repetition) {
  const auto fd = open_for_lines(path);
  if (!fd) return tl::unexpected(fd.error());
  SamplesFile file(*fd, path);
  if (size_of_regular(*fd) == 0) return file;
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  if (auto taken = file.take(*text, alike, repetition); !taken)
    return tl::unexpected(taken.error());
  return file;
}

Status SamplesFile::take(const std::string& text, const Json& alike, int repetition) {
  size_t begin = 0;
  bool counts = true;
  for (int number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) {  // cut off by a kill
      if (ftruncate(fd_, off_t(begin)) != 0)
        return fail(errno, "{} can't be gone on with: {}", path_, strerror(errno));
      break;
    }
    const Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    const std::string kind = line.is_object() ? line.value("kind", "") : "";
    if (kind.empty()) return fail(EINVAL, "{}:{}: no record of a samples file", path_, number);
    if (number == 1 && line.value("schema", "") != kSamplesSchema)
      return fail(EINVAL, "{} is not of the form {}", path_, kSamplesSchema);
    if (kind == "launch") {
      ++launches_;
      counts = line.value("repetition", 1) == repetition;
      for (const auto& [field, value] : alike.items())
        if (!line.contains(field) || line[field] != value)
          return fail(EINVAL, "{} is of another job: {} is {} there and {} here", path_, field,
                      shown(line, field.c_str()), value.dump());
    }
    if (kind == "point" && counts)
      measured_.insert(point_key(line.value("name", ""), line.value("place", ""),
                                 line.value("bytes", int64_t{-1}), line.value("buffers", "hot"),
                                 line.value("start", "") == "back to back"));
    if (kind == "measurement") measured_.insert("measurement/" + line.value("name", ""));
    begin = end + 1;
  }
  return {};
}

Status SamplesFile::add(const Json& record) {
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const int64_t before = size_of_regular(fd_);
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n >= 0) {
      done += size_t(n);
      continue;
    }
    if (errno == EINTR) continue;
    const int code = errno;
    // Without the half line, if that can be; a reader drops it otherwise.
    if (before > 0 && ftruncate(fd_, off_t(before)) != 0) errno = code;
    return fail(code, "{} can't be written: {}; what is in it is kept", path_, strerror(code));
  }
  return {};
}

}  // namespace haichi::measure
