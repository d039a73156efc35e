// Which sessions count on what they were told of a file, and until when. What others want to change
// of it waits so long: leases of time alone (Gray and Cheriton, SOSP 1989), which are so short that
// nobody has to be asked to give one back, and that a session that is gone holds nobody up.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "gasfs/wire/name_messages.h"

namespace haichi::gasfs {

/// Not thread-safe. Times are ns of any clock that only goes on.
class Watches {
 public:
  /// A server that begins knows nothing of what the one before it has granted.
  explicit Watches(int64_t now) : others_until_(now + kWatchNs) {}

  /// The session may count on all of these for kWatchNs. False if one of them was waited for
  /// lately: whoever changes a file often waits once in kWatchNs * kPause then, and not each time.
  bool grant(uint64_t session, std::span<const Inode> inodes, int64_t now);
  /// False if nobody has to wait for anything.
  bool any(int64_t now) const { return !files_.empty() || others_until_ > now; }
  /// How long the session has to wait before it changes these; 0: not at all.
  int64_t left(uint64_t session, std::span<const Inode> inodes, int64_t now);

  static constexpr int64_t kPause = 20;
  /// Files that are watched at once; no more are granted.
  static constexpr size_t kMost = 65536;

 private:
  struct File {
    uint64_t session = 0;  // if one alone watches it
    bool several = false;
    int64_t until = 0;  // the last grant of any session
    int64_t refused_until = 0;
  };
  void forget_old(int64_t now);

  int64_t others_until_;  // what an earlier process of this server may have granted
  std::unordered_map<Inode, File> files_;
  size_t look_again_ = 64;  // files at which old ones are looked for
};

}  // namespace haichi::gasfs
