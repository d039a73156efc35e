// Reading many small pieces of a file on one rank alone: through windows that hold the bytes
// between them too (data sieving: Thakur, Gropp and Lusk, "Data Sieving and Collective I/O in
// ROMIO").
//
// For reading only. Writing like this would put back bytes that somebody else has changed in the
// meantime; see "Nonblocking collectives" in docs/notes.md.
#pragma once

#include <cstdint>
#include <span>

#include "mpiio/collective_buffer.h"

namespace haichi::mpiio {

/// True if a system call for each of `blocks` pieces costs more than reading the bytes between.
bool worth_sieving(int64_t bytes, int64_t blocks);

struct SieveRead {
  const Access* own;  ///< ascending; no byte lies at or behind the end of the file
  std::byte* memory;  ///< origin of the user's buffer
  PatternPtr memory_pattern;
  AggregatorFile file;
  std::span<std::byte> window;  ///< at least one byte
  RecordPhase record = nullptr;
  void* record_context = nullptr;
};

/// Reads all pieces into the user's buffer. Bytes that are not there after all are given as zeros.
/// The first failure is returned; later windows are still tried.
Status read_by_sieving(const SieveRead& read);

}  // namespace haichi::mpiio
