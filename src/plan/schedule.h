// The schedule: what one rank does for a collective operation, as an ordered list of steps.
//
// Everything haichi does for a program is first a schedule, a pure function of placement, machine
// and request. Three executors read the same schedules: the real one (src/mpi/requests/executor.h),
// the checking one (tests/support/checking_executor.h) and the simulated one (src/sim/simulator.h).
// See "Schedules" in docs/notes.md.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace haichi::plan {

/// A run of bytes of one of the rank's buffers. What a buffer is, and whether its bytes are
/// contiguous in memory, is known to the executor's Buffers (below) alone.
struct Slice {
  int buffer = 0;
  int64_t begin = 0;
  int64_t size = 0;
};

/// What the ranks of a node have told under one cell, added up.
struct NodeSum {
  int64_t before = 0;  ///< of the ranks before this one
  int64_t all = 0;
};

struct Step {
  enum class Kind : uint8_t {
    send,        ///< `from` goes to `peer`; at most `Schedule::max_outstanding()` are outstanding
    receive,     ///< `to` is filled from `peer`; posted at once, complete after a wait
    copy,        ///< `from` to `to` within the rank; `peer` is whose bytes they become, or -1
    file_read,   ///< file bytes [file_begin, +to.size) into `to`; the last one is complete before
    file_write,  ///< `from` to file bytes [file_begin, ...); the back end knows which are real
    file_wait,   ///< the last file_read or file_write is complete, and its slice free
    wait,        ///< all messages of this round and of those before are complete, received bytes in
                 ///< place
    node_meet,   ///< all ranks of the node have come here: what each wrote, all others can read
    round,       ///< a new round (a cycle of two-phase I/O) begins; only messages of the round
                 ///< before it may be outstanding
    node_arrive,  ///< this rank has come to the next node_meet, and does something else before it
    node_tell,  ///< the node may know `number` of this rank, under `cell`, behind its next meeting
    node_sum,   ///< `*sum` is what the node's ranks told under `cell`, last before they met: the
                ///< slices of later steps may depend on it
  };
  Kind kind = Kind::round;
  int peer = -1;
  Slice from;
  Slice to;
  int64_t file_begin = 0;
  int64_t round = 0;
  int64_t cell = 0;
  int64_t number = 0;
  NodeSum* sum = nullptr;  ///< in the schedule
};

/// Lazy list of one rank's steps: 4096 ranks x 4096 messages are never held at once. A step is
/// taken before the next is asked for. Between a pair of ranks, sends and receives match in the
/// order in which they are issued.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Writes the next step and returns true, or returns false at the end.
  virtual bool next(Step& step) = 0;
  /// Most sends outstanding at a time; 0 is no limit.
  virtual int max_outstanding() const = 0;
};

/// The bytes behind the slices of one rank's schedule, and its file.
class Buffers {
 public:
  virtual ~Buffers() = default;
  /// A `round` step was reached: slices of later steps belong to that round.
  virtual void start_round(int64_t round) { (void)round; }
  /// Address of the slice if its bytes are contiguous in memory, else nullptr.
  virtual std::byte* contiguous(const Slice& slice) = 0;
  /// Copies the slice's bytes to `out` (slice.size bytes), in the order of the slice.
  virtual void gather(const Slice& slice, std::byte* out) = 0;
  /// The reverse of gather. For received slices it is called in the order of the receives' issue
  /// at the wait, or as they arrive if `order_free(slice)`.
  virtual void scatter(const Slice& slice, const std::byte* in) = 0;
  /// Copies between slices of one size, neither of which needs to be contiguous.
  virtual void copy(const Slice& from, const Slice& to) {
    std::vector<std::byte> middle(size_t(from.size));
    gather(from, middle.data());
    scatter(to, middle.data());
  }
  virtual bool order_free(const Slice& slice) = 0;
  /// Transfers `slice` from or to the file, or only begins to; a failure is remembered by the
  /// buffers, not thrown: the schedule goes on, so that no other rank waits for this one.
  virtual void read_file(const Slice& slice, int64_t file_begin) = 0;
  virtual void write_file(const Slice& slice, int64_t file_begin) = 0;
  /// True once the transfer that was begun last is complete. At most one is under way.
  virtual bool file_done() { return true; }
  /// For schedules with node_tell and node_sum: this rank's side of its node's table.
  virtual void tell_node(int64_t cell, int64_t number) { (void)cell, (void)number; }
  virtual NodeSum node_sum(int64_t cell) { return (void)cell, NodeSum{}; }
};

}  // namespace haichi::plan
