// A job of a few ranks over an MPI library that is not there.
//
// Why: what an MPI library does when it fails, in which order it completes requests, and how late
// another rank may be, cannot be asked of a real one. Here each is an option, and the rest of
// src/mpi is the real thing: ranks are processes, its calls go through the table of
// generated/real.h, which table.cpp fills, and files are real files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace haichi::test {

struct JobOptions {
  int ranks = 4;
  /// Drawn from it: after how many looks a request completes, and whether a send is complete before
  /// its receive is there.
  uint64_t seed = 0;
  /// The MPI call of `failing_rank` that fails, counted from 0 in its watched part; -1: none. A
  /// collective call fails on all ranks. The call has done nothing then.
  int64_t failing_call = -1;
  /// Calls about datatypes are among those that may fail. Libraries refuse them for handles that
  /// are no datatypes alone.
  bool types_fail = true;
  /// The same of memory: the request for it that is refused.
  int64_t refused_memory = -1;
  int failing_rank = 0;
  /// This rank sleeps so long before its watched part.
  int late_rank = -1;
  int late_ms = 0;
};

/// How a rank ended.
struct RankEnd {
  enum class How : uint8_t { returned, aborted, crashed, hung };
  How how = How::hung;
  int result = 0;           ///< what its body returned; the exit code of an abort; a signal
  int64_t calls = 0;        ///< of MPI in its watched part
  int64_t allocations = 0;  ///< of memory in it
  std::string failed;       ///< the MPI function that failed, "memory", or empty
  /// Handles that were made and not freed by the time the body returned: "2 requests".
  std::string left;
};

/// By which a rank says what of its body is the watched part.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void begin() = 0;
  virtual void end() = 0;
};

/// Runs `body` on each rank. Ranks that are there `limit_s` after the begin hang, and are ended;
/// those of an aborted job are ended soon after the abort, as a launcher does.
std::vector<RankEnd> run_job(const JobOptions& options,
                             const std::function<int(int rank, Watch& watch)>& body,
                             int limit_s = 30);

/// Of what came to an end, for messages of tests.
std::string text_of(const std::vector<RankEnd>& ends);

}  // namespace haichi::test
