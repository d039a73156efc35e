// The record of one rank while its program runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/definitions.h"
#include "record/memory.h"
#include "record/part.h"
#include "record/requests.h"
#include "record/spin_lock.h"
#include "record/table.h"
#include "record/traffic.h"

namespace haichi::record {

/// A call that is over. Moments are of the monotonic clock, in nanoseconds.
struct Call {
  Key key;
  int64_t begin_ns = 0, end_ns = 0;
  int64_t compute_ns = 0;  ///< of this thread, before it
  int64_t wait_ns = 0;     ///< of the call
};

struct Start {
  int rank = 0, ranks = 1;
  int64_t now_ns = 0, cpu_ns = 0;
};

/// The caller holds lock() for whatever it asks of it. Nothing on the way of a call whose key is
/// known takes memory from the system.
class Recording {
 public:
  /// `fd`: an empty file that keeps what is recorded if the process is killed; -1 is none. `names`
  /// of functions by their numbers.
  Recording(int fd, const char* const* names, const Start& start);

  /// False if there was no memory to begin with.
  bool usable() const { return head_ != nullptr; }
  SpinLock& lock() { return lock_; }

  /// True if the key is a new one, which takes longer than a call should.
  bool add(const Call& call);
  Definitions& definitions() { return *definitions_; }
  Requests& requests() { return requests_; }
  /// Follows a request that `begun` tells of, and gives it a slot. False if there is no room.
  bool begin(uint64_t request, Begun& begun);
  void sent(int peer, Way way, int64_t bytes) { traffic_->add(peer, way, bytes); }

  /// MPI_Finalize begins.
  void finish(int64_t now_ns, int64_t cpu_ns);
  PartView view() const;
  const Memory& memory() const { return memory_; }
  /// Of which what is behind kSequenceAt is for the order of calls.
  Memory& memory() { return memory_; }

 private:
  SpinLock lock_;
  Memory memory_;
  const char* const* const names_;
  Head* head_ = nullptr;
  std::optional<Definitions> definitions_;
  std::optional<Table> table_;
  std::optional<Traffic> traffic_;
  Requests requests_;
};

}  // namespace haichi::record
