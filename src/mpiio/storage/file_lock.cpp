#include "mpiio/storage/file_lock.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"

namespace haichi::mpiio {
namespace {

// Behind the bytes of any file: those who are present lock a byte each from here on.
constexpr int64_t kPresence = int64_t{1} << 62;
// Held shared while holes are filled, and for a moment by who becomes present.
constexpr int64_t kGate = kPresence - 1;
// Whoever holds a lock for a little access gives it back before a shorter nap would be over.
constexpr int64_t kShortestNap = 20'000, kLongestNap = 5'000'000;

plan::Extent byte_at(int64_t offset) { return {offset, offset + 1}; }

/// Waits as long as the file's backoff lasts, in naps of a quarter of what it has waited.
bool lock(const AggregatorFile& file, short type, plan::Extent range) {
  LockBackoff unspent;
  LockBackoff& backoff = file.backoff ? *file.backoff : unspent;
  for (int64_t begin_ns = 0, since_ns = 0;;) {
    const int locked = file.os->lock(file.fd, type, range.begin, range.size());
    const bool may_come = locked == -EINTR || locked == -EAGAIN || locked == -EACCES;
    if (locked >= 0 || !may_come) return locked >= 0;
    if (locked == -EINTR) continue;
    const int64_t now = now_ns();
    if (begin_ns == 0) begin_ns = since_ns = now;
    backoff.left_ns -= now - since_ns;
    since_ns = now;
    if (backoff.left_ns <= 0) return false;
    const int64_t nap_ns = std::min((now - begin_ns) / 4, kLongestNap);
    if (nap_ns < kShortestNap) {
      sched_yield();
      continue;
    }
    const timespec nap{0, nap_ns};
    nanosleep(&nap, nullptr);
  }
}

void unlock(const AggregatorFile& file, plan::Extent range) {
  file.os->lock(file.fd, F_UNLCK, range.begin, range.size());
}

}  // namespace

RangeLock::RangeLock(const AggregatorFile& file, short type, plan::Extent range)
    : file_(file), range_(range) {
  // A descriptor that cannot read takes no shared lock.
  const bool possible = type == F_WRLCK || file.readable;
  held_ = possible && !range.empty() && lock(file, type, range);
}

RangeLock::~RangeLock() {
  if (held_) unlock(file_, range_);
}

FillPermit::FillPermit(const AggregatorFile& file, plan::Extent part)
    : gate_(file, F_RDLCK, file.slot < 0 ? plan::Extent{} : byte_at(kGate)),
      range_(file, F_WRLCK, gate_.held() && alone(file) ? part : plan::Extent{}) {}

bool FillPermit::alone(const AggregatorFile& file) {
  const int64_t own = kPresence + file.slot;
  return file.os->locked_by_others(file.fd, kPresence, own - kPresence) == 0 &&
         file.os->locked_by_others(file.fd, own + 1, kPresence + kSlots - own - 1) == 0;
}

bool become_present(const AggregatorFile& file, int64_t slot) {
  const short type = file.readable ? F_RDLCK : F_WRLCK;
  if (!lock(file, type, byte_at(kPresence + slot))) return false;
  // Whoever holds the gate now may have looked before; whoever takes it from now on sees us.
  if (file.os->locked_by_others(file.fd, kGate, 1) == 0) return true;
  if (!lock(file, F_WRLCK, byte_at(kGate))) return false;
  unlock(file, byte_at(kGate));
  return true;
}

}  // namespace haichi::mpiio
