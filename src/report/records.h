// What one rank records of a run, for the report (docs/guide/formats.md).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace haichi::report {

/// What a thread does of a call behind the program: counted until the call's request has ended,
/// when its record has long been kept.
struct BehindTimes {
  std::atomic<int64_t> ran_ns = 0;     ///< of the thread
  std::atomic<int64_t> waited_ns = 0;  ///< of the program, in calls that look after the request
};

/// One collective access as one rank saw it. The fields from `bytes` to `why` are filled in on rank
/// 0 of the file only (`why` on every rank if the call was passed through; `bytes` and the extent
/// on every rank of a nonblocking collective, which is each rank's own affair); the others on all.
struct CallRecord {
  int64_t index = 0;        ///< within the file, equal on all its ranks
  int32_t event_call = -1;  ///< what this rank's trace events of the call carry as `call`
  std::string call;
  bool handled = false;
  int64_t elapsed_ns = 0;        ///< of the slowest rank if there was an exchange, else of this one
  int64_t bytes_inside = 0;      ///< sent to ranks of the same node, itself included
  int64_t bytes_between = 0;     ///< sent to ranks of other nodes
  int64_t messages_between = 0;  ///< in so many messages
  int64_t min_internode_bytes = -1;  ///< bytes, with any file domains; -1: not known
  int64_t windows_whole = 0, windows_separate = 0, windows_rmw = 0;
  int64_t bytes = 0;  ///< of all ranks; of a call that was passed through, this rank's
  int64_t file_begin = 0, file_end = 0;
  std::vector<int> aggregators;  ///< ranks of MPI_COMM_WORLD
  std::string layout, order;
  int window = 0;
  int64_t cycles = 0;
  std::vector<std::string> why;
  std::shared_ptr<BehindTimes> behind;  ///< null if all was done in the call
};

/// What flattening keeps of the datatypes of one open file on one rank: patterns
/// (mpiio/regions/pattern.h). The largest of each so far. Bytes are those of memory, blocks the
/// contiguous pieces that they stand for (INT64_MAX if there are more).
struct Flattening {
  int64_t view_blocks = 0, view_bytes = 0;      ///< one tile of the view; kept while it is set
  int64_t memory_blocks = 0, memory_bytes = 0;  ///< of the user's buffer; for the time of a call
  int64_t others_bytes = 0;  ///< what other ranks told this aggregator; for the time of a call

  void note_view(int64_t blocks, int64_t bytes) {
    view_blocks = std::max(view_blocks, blocks);
    view_bytes = std::max(view_bytes, bytes);
  }
  void note_memory(int64_t blocks, int64_t bytes) {
    memory_blocks = std::max(memory_blocks, blocks);
    memory_bytes = std::max(memory_bytes, bytes);
  }
};

/// All accesses of one open file. `key` is equal on all ranks of the file and differs between
/// files.
struct FileRecord {
  int64_t key = 0;
  std::string path;
  int64_t calls_seen = 0;
  std::vector<CallRecord> calls;  ///< the first of them
  size_t logged = 0;              ///< of these, that the rank's log has
  bool told = false;              ///< the log has the file, too
  std::map<std::string, std::string> hints;
  std::vector<std::string> ignored_hints;
  Flattening flattening;
};

/// Most calls listed per file; later ones are counted.
inline constexpr int64_t kMaxCallsListed = 200;

/// One key of one communicator, as its rank 0 saw it.
struct CollectiveRecord {
  struct Candidate {
    std::string name;            ///< "library", or as collectives::Candidate::text()
    std::vector<double> trials;  ///< seconds, mean over the ranks
    bool dropped = false;
    int64_t steady_calls = 0;   ///< that were no trials
    double steady_seconds = 0;  ///< of rank 0 in these
    double predicted = -1;      ///< seconds; -1: nothing was predicted
    std::string reason = {};    ///< of the model, to try it or not
  };
  std::string collective;
  int ranks = 0, nodes = 0;
  int size_bin = -1;
  int64_t calls = 0;
  int retries = 0;
  bool locked = false;
  double seconds = 0;  ///< of this rank in all calls that were counted
  std::string chosen;
  std::string why;
  std::vector<Candidate> candidates;
};

/// What the log of a rank has of a CollectiveRecord that grows.
struct CollectiveInLog {
  int64_t number = -1;  ///< in the log; -1: nothing
  size_t words = 0;     ///< a hash of what it has but for counts
  int64_t due = 1;      ///< calls after which more is to be said
};

/// A rank's collective file accesses, whoever carried them out.
struct CollectiveAccesses {
  int64_t calls = 0;
  int64_t elapsed_ns = 0;
  int64_t bytes = 0;
};

}  // namespace haichi::report
