#include "report/rank_log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/own_time.h"

namespace haichi::report {
namespace {

// One part in so many of the time that has passed may be spent.
constexpr int64_t kShare = 200;
// So much is added without asking for memory.
constexpr size_t kUsualPending = 16 * 1024;
// What waits at most; later records are counted.
constexpr size_t kMostPending = 256 * 1024;
constexpr int64_t kMostTotals = 192;

}  // namespace

RankLog::RankLog(Os& os, LogPlace place, int64_t (*clock)())
    : os_(os),
      place_(std::move(place)),
      clock_(clock),
      start_ns_(clock()),
      process_(getpid()),
      at_(place_.part.begin + 2 * kTotalsBytes) {
  pending_.reserve(kUsualPending);
  totals_.reserve(kMostTotals);
}

RankLog::~RankLog() {
  if (fd_ >= 0 && is_ours()) os_.close(fd_);
}

void RankLog::add(std::string_view record) {
  const std::lock_guard guard(mutex_);
  if (given_up_) return;
  const size_t begin = pending_.size();
  append(FrameKind::text, [&] { pending_ += record; });
  drop_unless_room(begin);
}

void RankLog::add_file(const FileRecord& file) {
  const std::lock_guard guard(mutex_);
  if (given_up_) return;
  const size_t begin = pending_.size();
  append(FrameKind::file, [&] { pack_file(pending_, file); });
  drop_unless_room(begin);
}

void RankLog::add_call(int64_t key, const CallRecord& call) {
  const std::lock_guard guard(mutex_);
  if (given_up_ || full_) {
    ++lost_;
    return;
  }
  const size_t begin = pending_.size();
  const int64_t words = add_words(call);
  append(FrameKind::call, [&] { pack_call(pending_, key, words, call); });
  drop_unless_room(begin);
}

void RankLog::add_collective(CollectiveInLog& known, const CollectiveRecord& record) {
  const std::lock_guard guard(mutex_);
  if (given_up_) return;
  known.due = record.calls + std::max<int64_t>(1, record.calls / 4);
  if (known.number < 0) known.number = collectives_++;
  const size_t begin = pending_.size();
  std::string words;
  pack_collective(words, record);
  const size_t hash = std::hash<std::string>()(words);
  if (known.words != hash)
    append(FrameKind::collective, [&] {
      pack_number(pending_, known.number);
      pending_ += words;
    });
  append(FrameKind::counts, [&] {
    pack_number(pending_, known.number);
    pack_counts(pending_, record);
  });
  if (!drop_unless_room(begin)) known.words = hash;
}

bool RankLog::has_time(int64_t now_ns, bool last) const {
  const std::lock_guard guard(mutex_);
  return !given_up_ && spent_ns_ <= (now_ns - start_ns_) * (last ? 2 : 1) / kShare;
}

void RankLog::show(Totals totals) {
  const std::lock_guard guard(mutex_);
  const OwnTime writing(clock_);
  if (given_up_ || (fd_ < 0 && !open())) return;
  show_totals(totals);
  show_pending();
  spent_ns_ += writing.so_far_ns();
}

void RankLog::end(std::string_view why, const Totals* totals) {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  // Not a child's, which has its parent's descriptor.
  if (!guard.owns_lock() || given_up_ || getpid() != process_ || (fd_ < 0 && !open())) return;
  if (totals != nullptr) show_totals(*totals);
  show_pending();
  char bytes[kEndBytes] = {};
  why = why.substr(0, sizeof bytes - kFrameHead);
  put_sealed_frame(bytes, FrameKind::text, why);
  write({bytes, kFrameHead + why.size()}, place_.part.begin + place_.part.size - kEndBytes);
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

template <class Payload>
void RankLog::append(FrameKind kind, const Payload& payload) {
  const Frame frame(pending_, kind);
  payload();
}

/// Takes a record back that has no room, and counts it.
bool RankLog::drop_unless_room(size_t begin) {
  const int64_t room = place_.part.begin + place_.part.size - kEndBytes - at_;
  if (int64_t(pending_.size()) <= room && pending_.size() <= kMostPending) return false;
  full_ = full_ || int64_t(pending_.size()) > room;
  pending_.resize(begin);
  words_from_ = words_made_;  // some may have been among it
  ++lost_;
  return true;
}

/// The number of a call's words, which are added if they are none of the last ones.
int64_t RankLog::add_words(const CallRecord& call) {
  packed_words_.clear();
  pack_words(packed_words_, call);
  const int64_t oldest = std::max(words_from_, words_made_ - int64_t(words_.size()));
  for (int64_t number = words_made_; number-- > oldest;)
    if (words_[size_t(number) % words_.size()] == packed_words_) return number;
  words_[size_t(words_made_) % words_.size()] = packed_words_;
  append(FrameKind::words, [&] {
    pack_number(pending_, words_made_);
    pending_ += packed_words_;
  });
  return words_made_++;
}

void RankLog::show_totals(Totals totals) {
  totals.shown = ++shown_;
  totals.lost = lost_;
  totals_.clear();
  {
    const Frame frame(totals_, FrameKind::totals);
    pack(totals_, totals);
  }
  seal_frames(totals_.data(), totals_.size());
  // The older of the two places, so that one is whole whenever this ends.
  write(totals_, place_.part.begin + shown_ % 2 * kTotalsBytes);
}

void RankLog::show_pending() {
  seal_frames(pending_.data(), pending_.size());
  if (pending_.empty() || !write(pending_, at_)) return;
  at_ += int64_t(pending_.size());
  pending_.clear();
}

/// A program may close descriptors that it does not know, and open files of its own in their place.
bool RankLog::is_ours() const {
  struct stat facts = {};
  return os_.fstat(fd_, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
}

bool RankLog::write(std::string_view bytes, int64_t offset) {
  if (!is_ours()) {
    fd_ = -1;
    give_up("the program has closed its descriptor");
    return false;
  }
  if (!os_.may_grow_to(offset + int64_t(bytes.size()))) {
    give_up(strerror(EFBIG));
    return false;
  }
  while (!bytes.empty()) {
    const int64_t n = os_.pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (n == -EINTR) continue;
    if (n <= 0) {
      give_up(n < 0 ? strerror(int(-n)) : "nothing can be written");
      return false;
    }
    bytes.remove_prefix(size_t(n));
    offset += n;
  }
  return true;
}

void RankLog::give_up(std::string why) {
  given_up_ = true;
  trouble_ = std::move(why);
}

}  // namespace haichi::report
