// An aggregator's collective buffer and a rank's own memory: the bytes behind a two-phase schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/os.h"
#include "mpiio/access.h"
#include "mpiio/two_phase.h"
#include "trace/recorder.h"

namespace haichi::mpiio {

/// How holes between the pieces of a window are treated when writing.
enum class Holes { automatic, separate, rmw };

/// The file of an aggregator.
struct AggregatorFile {
  Os* os = nullptr;
  int fd = -1;
  bool readable = false;  ///< opened so that read-modify-write is possible
};

/// What happened to the windows of one collective access on this rank.
struct FileTotals {
  int64_t whole = 0;     ///< windows written or read in one piece
  int64_t separate = 0;  ///< windows written piece by piece
  int64_t rmw = 0;       ///< windows written by read-modify-write
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};

/// Records intervals for the report; may be null. `begin_ns` and `end_ns` are haichi::now_ns().
using RecordPhase = void (*)(void* context, trace::Phase, int64_t cycle, int64_t begin_ns,
                             int64_t end_ns, int64_t bytes);

/// Not thread-safe: used by the one thread that runs the schedule.
class CollectiveBuffer : public plan::Buffers {
 public:
  struct Config {
    const TwoPhasePlan* plan;
    int my_aggregator;
    const Access* own;
    const std::vector<Access>* others;
    /// By aggregator (index): its two windows of plan->window_bytes each, that of even cycles
    /// first. Null where this rank cannot reach them; never null for its own.
    std::vector<std::byte*> windows;
    std::byte* memory;          ///< origin of the user's buffer
    PatternPtr memory_pattern;  ///< positions: those of the access, relative to its begin
    AggregatorFile file;
    Holes holes = Holes::automatic;
    RecordPhase record = nullptr;
    void* record_context = nullptr;
  };
  explicit CollectiveBuffer(const Config& config);

  void start_round(int64_t round) override;
  std::byte* contiguous(const plan::Slice& slice) override;
  void gather(const plan::Slice& slice, std::byte* out) override;
  void scatter(const plan::Slice& slice, const std::byte* in) override;
  bool order_free(const plan::Slice& slice) override;
  void read_file(const plan::Slice& slice, int64_t file_begin) override;
  void write_file(const plan::Slice& slice, int64_t file_begin) override;

  /// First failure of the file, or success. Later windows are still tried: what can be kept is
  /// kept.
  const Status& status() const { return status_; }
  const FileTotals& totals() const { return totals_; }

 private:
  /// This aggregator's window of a cycle.
  struct Window {
    int64_t cycle = 0;
    plan::Extent extent;
    std::byte* memory = nullptr;
    bool covered = false;  // overlap and runs are known
    bool overlap = false;
    std::vector<plan::Extent> runs;  // bytes that some rank gives or wants, ascending and disjoint
    std::byte* at(int64_t offset) const { return memory + (offset - extent.begin); }
  };
  /// Bytes of a window, of this or another aggregator, as an access sees them.
  struct Seen {
    const Access* access;
    std::byte* origin;  // where offset 0 of the file would lie
  };
  Seen seen(const Place& place) const;
  void cover(Window& window) const;
  void merge_blocks(Window& window) const;
  bool wants_rmw(const Window& window) const;
  void write_separately(const Window& window);
  void write_with_rmw(const Window& window);
  Status modify(const Window& window, plan::Extent part, std::span<std::byte> scratch);
  void note(const Status& done);
  /// visit(bytes, count) for the blocks of the slice, in its order.
  template <class Visit>
  void for_each_block(const plan::Slice& slice, Visit&& visit);

  const Config config_;
  Window windows_[2];  // by parity of the cycle
  Status status_;
  FileTotals totals_;
};

}  // namespace haichi::mpiio
