// What a rank keeps for a trace of the run, beside the phases of its file accesses.
#pragma once

#include <cstdint>
#include <string_view>

namespace haichi::report {

/// Bytes that left this rank for another one in a collective file access. Times are nanoseconds
/// since the start that all ranks share.
struct MessageRecord {
  int32_t call = 0;  ///< as trace::Event has it
  int32_t cycle = 0;
  int to = 0;  ///< rank of MPI_COMM_WORLD
  int64_t at_ns = 0;
  int64_t bytes = 0;
};

/// One call of a collective that haichi chooses an algorithm for.
struct ExchangeSpan {
  std::string_view collective;  ///< lives as long as the program
  int64_t begin_ns = 0, end_ns = 0;
  int64_t block_bytes = 0;  ///< -1: they differ
};

}  // namespace haichi::report
