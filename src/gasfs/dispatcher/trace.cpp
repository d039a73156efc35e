#include "gasfs/dispatcher/trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include "base/version.h"

namespace haichi::gasfs {

Result<std::unique_ptr<Trace>> Trace::open(const std::string& path, uint64_t most) {
  Stream file(std::fopen(path.c_str(), "wbe"));
  if (!file || std::fprintf(file.get(), "%s%s\n", kTraceHead, kVersion) < 0 ||
      std::fflush(file.get()) != 0)
    return fail(errno, "cannot write {}: {}", path, std::strerror(errno));
  return std::unique_ptr<Trace>(new Trace(std::move(file), most));
}

void Trace::note(Inode inode, uint64_t offset, uint64_t length, uint32_t go) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto bytes = std::min<uint64_t>(length, std::numeric_limits<uint32_t>::max());
  const TraceRecord record{int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, inode, offset,
                           static_cast<uint32_t>(bytes), go};
  const std::lock_guard lock(mutex_);
  if (left_ == 0) return;
  left_ = std::fwrite(&record, sizeof record, 1, file_.get()) == 1 ? left_ - 1 : 0;
}

uint32_t Trace::next_go() {
  const std::lock_guard lock(mutex_);
  return ++last_go_;
}

void Trace::flush() {
  const std::lock_guard lock(mutex_);
  if (std::fflush(file_.get()) != 0) left_ = 0;
}

}  // namespace haichi::gasfs
