// What the ranks of a fake job share: mailboxes in memory in common, and how each of them ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fake_mpi/job.h"

namespace haichi::test {

/// Between whom a message goes. `context` is of a communicator.
struct Envelope {
  int64_t context;
  int source;  ///< rank in MPI_COMM_WORLD
  int tag;
  bool operator==(const Envelope&) const = default;
};

/// One message; lies in the memory in common until its job ends.
struct Mail {
  Envelope envelope;
  size_t size;
  Mail* next;
  std::atomic<bool> taken;
  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// How a rank ended, as its process says so.
struct Ending {
  std::atomic<bool> returned;
  int result;
  int64_t calls, allocations;
  char failed[32];
  char left[64];
};

/// Made before the ranks are forked, so that it lies at the same address in all of them.
class World {
 public:
  static constexpr int kMostRanks = 8;

  explicit World(const JobOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const JobOptions options;

  void send(int to, const Envelope& envelope, const void* data, size_t size, Mail** sent);
  /// The first message of this envelope for `rank`, taken out; null if there is none.
  Mail* take(int rank, const Envelope& envelope);

  Ending& ending(int rank);
  void abort(int code);
  /// The exit code of an abort, or -1.
  int aborted() const;

 private:
  struct Shared;
  Shared* shared_;
};

/// In a rank's process: which rank of which world it is. Null in the process of the test.
struct Self {
  World* world;
  int rank;
};
Self& self();

}  // namespace haichi::test
