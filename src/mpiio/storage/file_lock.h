// Locks that keep the writers of a file apart: who is there, who may fill holes, and who may write.
// The rules are in "Who may fill holes" in docs/notes.md.
//
// All locks belong to an open file description (fcntl(2), F_OFD_SETLK). Where a file system has
// none, nobody fills holes, and nothing is waited for.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/os.h"
#include "plan/file_domains.h"

namespace haichi::mpiio {

/// How long one open file still waits for locks that others hold, in nanoseconds. Who holds a lock
/// may be a program that never gives it back: the wait is for all calls together.
struct LockBackoff {
  std::atomic<int64_t> left_ns = 1'000'000'000;
};

/// A file as this process writes to it.
struct AggregatorFile {
  Os* os = nullptr;
  int fd = -1;
  bool readable = false;  ///< opened so that read-modify-write is possible
  /// The handle's place among those who are present; negative: holes are never filled.
  int64_t slot = -1;
  bool lock_writes = false;  ///< others may fill holes under a lock: exact writes take one too
  LockBackoff* backoff = nullptr;  ///< null: as if nothing had been waited for yet
};

/// A lock on bytes of the file for as long as it lives. Nothing is locked if it was not to be had.
class RangeLock {
 public:
  /// `type` is F_RDLCK or F_WRLCK.
  RangeLock(const AggregatorFile& file, short type, plan::Extent range);
  ~RangeLock();
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  bool held() const { return held_; }

 private:
  const AggregatorFile& file_;
  const plan::Extent range_;
  bool held_ = false;
};

/// Leave to read, modify and write a part of the file, for as long as it lives.
class FillPermit {
 public:
  FillPermit(const AggregatorFile& file, plan::Extent part);
  bool given() const { return range_.held(); }

 private:
  /// Whether nobody else is present; asked while the gate is held.
  static bool alone(const AggregatorFile& file);

  RangeLock gate_;
  RangeLock range_;
};

/// Number of slots; a handle draws one at random.
inline constexpr int64_t kSlots = int64_t{1} << 40;

/// Makes a writer known that does not lock what it writes, until the descriptor is closed. When
/// this returns, nobody is filling holes who has not seen it. False if the file system has no locks
/// or somebody holds the gate for too long.
bool become_present(const AggregatorFile& file, int64_t slot);

}  // namespace haichi::mpiio
