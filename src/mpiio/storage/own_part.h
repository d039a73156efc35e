// A rank's part of an access by that rank alone: no exchange, no aggregator.
//
// Where no network lies between a rank and the file and its pieces are not tiny, moving bytes to an
// aggregator only adds copies; and in a nonblocking collective no rank may wait for another.
#pragma once

#include <cstdint>
#include <span>

#include "mpiio/regions/access.h"
#include "mpiio/storage/window_file.h"

namespace haichi::mpiio {

struct OwnPart {
  const Access* own;            ///< when reading, no byte lies at or behind the end of the file
  std::byte* memory;            ///< origin of the user's buffer
  PatternPtr memory_pattern;    ///< positions: those of the access, relative to its begin
  AggregatorFile file;          ///< `lock_writes`: exact writes hold a lock on the whole hull
  std::span<std::byte> bounce;  ///< what goes through memory of ours; at least a byte if any does
  RecordPhase record = nullptr;
  void* record_context = nullptr;
};

/// A system call for each piece. What is contiguous in memory goes straight from or to the user's
/// buffer. The first failure is returned; later pieces are still tried: what can be kept is kept.
Status write_pieces(const OwnPart& part);
Status read_pieces(const OwnPart& part);

}  // namespace haichi::mpiio
