// An aggregator's window and the file: reading what ranks want, writing what they gave and not a
// byte more.
//
// These functions share nothing but their arguments, so that a thread beside the exchange may run
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/regions/run_list.h"
#include "mpiio/storage/file_lock.h"
#include "plan/window_layout.h"
#include "trace/recorder.h"

namespace haichi::mpiio {

/// How holes between the pieces of a window are treated when writing.
enum class Holes { automatic, separate, rmw };

/// True if `pieces` pieces of a window, `bytes` bytes within `span`, are better written by
/// read-modify-write of all of it than each by itself, where both can be done.
bool wants_rmw(int64_t pieces, int64_t span, int64_t bytes, Holes holes);

/// Records intervals for the report; may be null. `begin_ns` and `end_ns` are haichi::now_ns().
using RecordPhase = void (*)(void* context, trace::Phase, int64_t cycle, int64_t begin_ns,
                             int64_t end_ns, int64_t bytes);

/// One cycle's part of an aggregator's file domain, in memory.
struct FileWindow {
  plan::WindowLayout layout;
  std::byte* memory = nullptr;
  RunList runs;  ///< bytes that some rank gives or wants, ascending; none is in two parts
};

/// What happened to windows, one or several.
struct FileTotals {
  int64_t whole = 0;     ///< windows written or read in one piece
  int64_t separate = 0;  ///< windows written piece by piece
  int64_t rmw = 0;       ///< windows written by read-modify-write
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;

  FileTotals& operator+=(const FileTotals& more);
};

/// What happened to one window.
struct FileOutcome {
  struct Interval {
    trace::Phase phase;
    int64_t begin_ns, end_ns;  ///< haichi::now_ns()
    int64_t bytes;
  };
  Status status;  ///< first failure; later pieces are still tried: what can be kept is kept
  FileTotals totals;
  std::vector<Interval> intervals;
  bool lock_refused = false;  ///< and so pieces were written one by one
};

/// Reads the runs, and holes between those of a part that are not worth skipping. Bytes that are
/// not there after all are given as zeros.
FileOutcome read_window(const FileWindow& window, const AggregatorFile& file);

/// Writes the runs: one by one, or those of a part with the holes between them by read-modify-write
/// where that is permitted (FillPermit). Uses the holes of the window's memory. What lies between
/// two parts is neither read nor written.
FileOutcome write_window(const FileWindow& window, const AggregatorFile& file, Holes holes);

}  // namespace haichi::mpiio
