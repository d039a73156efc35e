// Collective accesses in which every rank accesses the file itself: no exchange at all.
//
// Where no network lies between the ranks and their pieces are not tiny, moving bytes to an
// aggregator only adds copies. The decision is plan_two_phase's (two_phase.h).
#pragma once

#include <cstdint>
#include <span>

#include "mpiio/collective_buffer.h"

namespace haichi::mpiio {

/// One step: this rank's own access.
class DirectSchedule : public plan::Schedule {
 public:
  DirectSchedule(Direction direction, int64_t bytes) : direction_(direction), bytes_(bytes) {}
  bool next(plan::Step& step) override;
  int window() const override { return 0; }

 private:
  const Direction direction_;
  const int64_t bytes_;
  bool done_ = false;
};

/// The bytes behind a DirectSchedule. Pieces whose memory is contiguous go straight to or from the
/// user's buffer; others through `bounce`.
class DirectBuffers : public plan::Buffers {
 public:
  struct Config {
    const Access* own;
    std::byte* memory;          ///< origin of the user's buffer
    PatternPtr memory_pattern;  ///< positions: those of the access, relative to its begin
    AggregatorFile file;
    std::span<std::byte> bounce;
    RecordPhase record = nullptr;
    void* record_context = nullptr;
  };
  explicit DirectBuffers(const Config& config) : config_(config) {}

  // A direct access has no slices that could be exchanged.
  std::byte* contiguous(const plan::Slice&) override { return nullptr; }
  void gather(const plan::Slice&, std::byte*) override {}
  void scatter(const plan::Slice&, const std::byte*) override {}
  bool order_free(const plan::Slice&) override { return true; }
  void read_file(const plan::Slice& slice, int64_t file_begin) override;
  void write_file(const plan::Slice& slice, int64_t file_begin) override;

  /// First failure, or success. Later pieces are still tried: what can be kept is kept.
  const Status& status() const { return status_; }

 private:
  /// Calls transfer(memory, file offset, position) for runs of at most one block of the file, and
  /// of the bounce buffer where memory is not contiguous there (`memory` is then the bounce
  /// buffer).
  template <class Transfer>
  void for_each_run(Transfer&& transfer);
  void copy_memory(int64_t position, std::span<std::byte> bytes, bool to_memory);

  const Config config_;
  Status status_;
};

}  // namespace haichi::mpiio
