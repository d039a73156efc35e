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
    const std::vector<Access>* others;
    std::byte* window_memory;   ///< for one window; unused if this rank is no aggregator
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
  /// Runs of bytes of the window that some rank gives or wants, ascending and disjoint.
  void cover_window();
  void merge_blocks();
  bool wants_rmw() const;
  void write_separately();
  void write_with_rmw();
  Status modify(plan::Extent part, std::span<std::byte> scratch);
  void note(const Status& done);
  template <class Visit>
  void blocks_in_buffer(int rank, int64_t from, int64_t size, Visit&& visit);

  const Config config_;
  plan::Extent window_;
  int64_t round_ = 0;
  bool covered_ = false;  // runs_ and overlap_ are of this window
  bool overlap_ = false;
  std::vector<plan::Extent> runs_;
  Status status_;
  FileTotals totals_;
};

}  // namespace haichi::mpiio
