// An aggregator's collective buffer and a rank's own memory: the bytes behind a two-phase schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/worker.h"
#include "mpiio/regions/access.h"
#include "mpiio/regions/run_list.h"
#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/two_phase_schedule.h"

namespace haichi::mpiio {

/// Not thread-safe: used by the one thread that runs the schedule. Where there is a worker, windows
/// are read and written by it, while this thread works on the other window.
class CollectiveBuffer : public plan::Buffers {
 public:
  struct Config {
    const TwoPhasePlan* plan;
    int my_aggregator;
    const Access* own;
    const AccessList* others;
    /// By aggregator (index): its plan->cb_slots windows of plan->cb_slot_bytes each. Null where
    /// this rank cannot reach them; never null for its own.
    std::vector<std::byte*> windows;
    const NodeStreams* streams = nullptr;             ///< null if no node has any
    std::byte* stream_memory = nullptr;               ///< of this rank's node; null if it has none
    const placement::Placement* placement = nullptr;  ///< needed where any node has streams
    int rank = 0;                                     ///< the same
    std::byte* memory;                                ///< origin of the user's buffer
    PatternPtr memory_pattern;  ///< positions: those of the access, relative to its begin
    AggregatorFile file;
    Holes holes = Holes::automatic;
    Worker* worker = nullptr;  ///< accesses the file; null: the caller's thread does
    RecordPhase record = nullptr;
    void* record_context = nullptr;
  };
  explicit CollectiveBuffer(const Config& config);
  /// Waits for the file access that is under way.
  ~CollectiveBuffer() override;

  void start_round(int64_t round) override;
  std::byte* contiguous(const plan::Slice& slice) override;
  void gather(const plan::Slice& slice, std::byte* out) override;
  void scatter(const plan::Slice& slice, const std::byte* in) override;
  void copy(const plan::Slice& from, const plan::Slice& to) override;
  bool order_free(const plan::Slice& slice) override;
  void read_file(const plan::Slice& slice, int64_t file_begin) override;
  void write_file(const plan::Slice& slice, int64_t file_begin) override;
  bool file_done() override;
  void tell_node(int64_t cell, int64_t number) override;
  plan::NodeSum node_sum(int64_t cell) override;

  /// First failure of the file, or success. Later windows are still tried: what can be kept is
  /// kept.
  const Status& status() const { return status_; }
  const FileTotals& totals() const { return totals_; }

 private:
  /// This aggregator's window of a cycle.
  struct Window : FileWindow {
    int64_t cycle = 0;
    bool covered = false;  // overlap and runs are known
    bool overlap = false;
  };
  /// Bytes of a window, of this or another aggregator, as an access sees them.
  struct Seen {
    const Access* access;
    std::byte* memory;
    plan::WindowPlaces places;
    std::byte* at(int64_t offset) { return memory + places(offset); }
  };
  Seen seen(const Place& place) const;
  Seen seen_by(int rank, const Window& mine) const {
    return {&(*config_.others)[rank], mine.memory, plan::WindowPlaces(mine.layout)};
  }
  void cover(Window& window) const;
  int node() const { return config_.placement->node_of(config_.rank); }
  /// Has access() run on the window, by the worker if there is one.
  template <class FileAccess>
  void start_access(const plan::Slice& slice, FileAccess&& access);
  void keep(const FileOutcome& outcome, int64_t cycle);
  /// visit(bytes, count) for the blocks of the slice, in its order.
  template <class Visit>
  void for_each_block(const plan::Slice& slice, Visit&& visit);

  const Config config_;
  std::byte* stream_areas_ = nullptr;
  Window windows_[Place::kMostWindows];  // the first plan->cb_slots of them
  const Window* under_way_ = nullptr;    // the worker has it
  FileOutcome outcome_;                  // of that window, written by the worker
  Status status_;
  FileTotals totals_;
  bool lock_refused_ = false;  // is not waited for again
};

}  // namespace haichi::mpiio
