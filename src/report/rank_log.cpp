#include "report/rank_log.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/own_time.h"

namespace haichi::report {
namespace {

// What may be spent at any time, and the share of the time that has passed.
constexpr int64_t kAllowanceNs = 5'000'000, kShare = 100;
// Less is no record.
constexpr int64_t kSmallest = 64;

}  // namespace

RankLog::RankLog(Os& os, LogPlace place, int64_t (*clock)())
    : os_(os),
      place_(std::move(place)),
      clock_(clock),
      start_ns_(clock()),
      process_(getpid()),
      at_(place_.part.begin + 2 * kTotalsBytes) {}

RankLog::~RankLog() {
  if (fd_ >= 0 && is_ours()) os_.close(fd_);
}

void RankLog::add(std::string_view record) {
  const std::lock_guard guard(mutex_);
  if (given_up_) return;
  const std::string line = sealed(record);
  const int64_t end = place_.part.begin + place_.part.size - kEndBytes;
  const int64_t room = end - at_ - int64_t(pending_.size());
  full_ = room < kSmallest;
  if (int64_t(line.size()) <= room)
    pending_ += line;
  else
    ++lost_;
}

bool RankLog::full() const {
  const std::lock_guard guard(mutex_);
  return full_ || given_up_;
}

bool RankLog::has_time() const {
  const std::lock_guard guard(mutex_);
  return !given_up_ && may_spend(clock_());
}

void RankLog::show(const Totals& t, int64_t making_ns) {
  const std::lock_guard guard(mutex_);
  const OwnTime writing(clock_);
  spent_ns_ += making_ns;
  if (given_up_ || !may_spend(clock_()) || (fd_ < 0 && !open())) return;
  const auto seconds = [](int64_t ns) { return double(ns) * 1e-9; };
  const std::string line = sealed(
      fmt::format(R"({{"n":{},"r":{},"d":{},"at":{:.4f},"s":[{:.6f},{:.6f},{:.6f},{:.6f}],)"
                  R"("b":[{},{},{}],"a":[{},{:.6f},{}],"lost":{}}})",
                  ++shown_, t.rank, t.node, seconds(t.since_start_ns), seconds(t.phase_ns[0]),
                  seconds(t.phase_ns[1]), seconds(t.phase_ns[2]), seconds(t.phase_ns[3]),
                  t.phase_bytes[0], t.phase_bytes[1], t.phase_bytes[2], t.accesses.calls,
                  seconds(t.accesses.elapsed_ns), t.accesses.bytes, lost_));
  // The older of the two places, so that one is whole whenever this ends.
  if (int64_t(line.size()) <= kTotalsBytes)
    write(line, place_.part.begin + shown_ % 2 * kTotalsBytes);
  if (!pending_.empty() && write(pending_, at_)) {
    at_ += int64_t(pending_.size());
    pending_.clear();
  }
  spent_ns_ += writing.so_far_ns();
}

void RankLog::end(std::string_view why) {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  // Not a child's, which has its parent's descriptor.
  if (!guard.owns_lock() || given_up_ || getpid() != process_ || (fd_ < 0 && !open())) return;
  if (!pending_.empty()) write(pending_, at_);
  const auto seal = seal_of(why);
  char line[kEndBytes];
  const size_t size = std::min(why.size(), sizeof line - seal.size() - 1);
  memcpy(line, seal.data(), seal.size());
  memcpy(line + seal.size(), why.data(), size);
  line[seal.size() + size] = '\n';
  write(std::string_view(line, seal.size() + size + 1),
        place_.part.begin + place_.part.size - kEndBytes);
}

std::string RankLog::trouble() {
  const std::lock_guard guard(mutex_);
  return std::exchange(trouble_, {});
}

bool RankLog::open() {
  fd_ = os_.open(place_.path.c_str(),
                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    give_up(strerror(-fd_));
    return false;
  }
  struct stat facts = {};
  if (os_.fstat(fd_, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) {
    os_.close(std::exchange(fd_, -1));
    give_up("it is not a file of one's own");
    return false;
  }
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  return write(place_.head, 0);
}

bool RankLog::may_spend(int64_t now_ns) const {
  return spent_ns_ <= kAllowanceNs + (now_ns - start_ns_) / kShare;
}

/// A program may close descriptors that it does not know, and open files of its own in their place.
bool RankLog::is_ours() const {
  struct stat facts = {};
  return os_.fstat(fd_, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
}

bool RankLog::write(std::string_view text, int64_t offset) {
  if (!is_ours()) {
    fd_ = -1;
    give_up("the program has closed its descriptor");
    return false;
  }
  if (!os_.may_grow_to(offset + int64_t(text.size()))) {
    give_up(strerror(EFBIG));
    return false;
  }
  while (!text.empty()) {
    const int64_t n = os_.pwrite(fd_, text.data(), text.size(), offset);
    if (n == -EINTR) continue;
    if (n <= 0) {
      give_up(n < 0 ? strerror(int(-n)) : "nothing can be written");
      return false;
    }
    text.remove_prefix(size_t(n));
    offset += n;
  }
  return true;
}

void RankLog::give_up(std::string why) {
  given_up_ = true;
  trouble_ = std::move(why);
}

}  // namespace haichi::report
