// Scatter: what was gathered of a file, arranged, as frames to the servers, and how it ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gasfs/dispatcher/link.h"
#include "gasfs/dispatcher/name_client.h"
#include "gasfs/dispatcher/node_file.h"
#include "gasfs/dispatcher/trace.h"

namespace haichi::gasfs {

using File = std::shared_ptr<NodeFile>;

/// Bytes that are gathered or on their way, and their bound.
class Budget {
 public:
  explicit Budget(uint64_t most) : most_(most) {}
  void take(uint64_t bytes) { used_ += bytes; }
  void give(uint64_t bytes) {
    used_ -= bytes;
    const std::lock_guard lock(mutex_);
    freed_.notify_all();
  }
  bool over() const { return used_ > most_; }
  /// Until it is not over the bound any more. What is gathered must be on its way.
  void wait() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !over(); });
  }
  uint64_t used() const { return used_; }
  uint64_t most() const { return most_; }

 private:
  const uint64_t most_;
  std::atomic<uint64_t> used_{0};
  std::mutex mutex_;
  std::condition_variable freed_;
};

struct ScatterOptions {
  bool arrange = true;  // false: as the requests came (table 3, "NotArranged")
  uint64_t most_sub_buffer = uint64_t{64} << 20;  // bytes to which one grows
  Trace* trace = nullptr;                         // has what is sent, if there is one
};

struct ScatterCounts {
  std::atomic<uint64_t> requests_gathered{0};
  std::atomic<uint64_t> requests_sent{0};
  std::atomic<uint64_t> bytes_sent{0};
  std::atomic<uint64_t> frames{0};
};

/// Thread-safe; where a file is given, its lock is held.
class Scatter {
 public:
  Scatter(std::vector<std::unique_ptr<Link>>& links, NameClient& names, Budget& budget,
          const ScatterOptions& options)
      : links_(links), names_(names), budget_(budget), options_(options) {}

  /// Sends all that is gathered, and does not wait. `full`: because the sub-buffer is, which grows
  /// where what it held did not come together.
  void issue(const File& file, bool full = false);
  /// The same, and tells the server of names of the size; again where it was told too early.
  void issue_all(const File& file);
  /// Sends all that is gathered, waits until it has arrived, and only then tells the server of
  /// names, so that who is told reads the new bytes. The lock is released meanwhile.
  void finish(const File& file, std::unique_lock<std::mutex>& lock);
  /// Latches an error.
  static void latch(NodeFile& file, int error);
  /// Whether the bytes that a server did not take, for this reason, are safe in the other copies
  /// once its object is known as stale. A full disk is for somebody to put right.
  static bool can_go_on_without(const Layout& layout, uint32_t server, int error);

  const ScatterCounts& counts() const { return counts_; }

 private:
  /// Waits until all that was issued so far is answered; the lock is released meanwhile.
  static void wait(const File& file, std::unique_lock<std::mutex>& lock);
  void send_frame(const File& file, uint32_t server, const Arranged& arranged,
                  std::span<const Run* const> runs);
  /// Ends what was flying under `number`.
  static void land(const File& file, uint64_t number, int error);
  /// The same, for what `server` was to write: where it did not, others have it.
  void land_at(const File& file, uint64_t number, uint32_t server, int error);
  /// Has the server of names know that a server's object is stale, and what was flying end then.
  /// False where that can't help. The file is locked.
  bool lose_copy(const File& file, uint64_t number, uint32_t server, int error);

  std::vector<std::unique_ptr<Link>>& links_;
  NameClient& names_;
  Budget& budget_;
  const ScatterOptions options_;
  ScatterCounts counts_;
};

}  // namespace haichi::gasfs
