// Arranging in the server: what several nodes want written to one object at the same time goes to
// the disk together, in the order of offsets and merged. Each is answered when the kernel has its
// bytes, as without it.
//
// Paper 002, section 6: the future work. While one thread writes to an object, what comes for it
// waits, as it would for the kernel's lock of that file, and is then written together; so nobody
// waits for the sake of merging. A server may also be told to wait a little for the nodes that
// wrote to the object lately: that saves requests where the disk is slower than the wait.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gasfs/store/objects.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

/// Thread-safe.
class WriteBatches {
 public:
  /// Waits at most `gather_us` microseconds for others; 0: not at all.
  WriteBatches(Objects& objects, int gather_us) : objects_(objects), gather_us_(gather_us) {}

  /// Returns when the kernel has the bytes: errno, also where what it was written with has failed.
  /// Requests of one session come one after the other.
  Done write(uint64_t session, const WriteMessage& message);
  /// How many were written together with another session's.
  uint64_t together() const { return together_; }

 private:
  struct Waiting {
    const WriteMessage& message;
    Done done{};
    bool over = false;
  };
  struct Object {
    std::vector<Waiting*> waiting;                   // in the order of arrival
    bool written = false;                            // by a thread, just now
    uint64_t users = 0;                              // threads that wait or write
    std::unordered_map<uint64_t, int64_t> sessions;  // when each came last, ns
  };

  void lead(Object& object, Inode inode, std::unique_lock<std::mutex>& lock);
  bool all_are_here(Object& object) const;
  void write_all(Inode inode, const std::vector<Waiting*>& batch);
  Done write_merged(Inode inode, const std::vector<Waiting*>& batch);
  void forget_old();

  Objects& objects_;
  const int gather_us_;
  std::atomic<uint64_t> together_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<Inode, Object> busy_;
};

}  // namespace haichi::gasfs
