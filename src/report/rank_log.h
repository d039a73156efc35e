// The log of one rank: what it has recorded so far, in a file, so that it is there when the process
// is killed. See docs/adr/0020-a-log-until-the-end.md.
//
// It is written by pwrite(2) into the kernel's page cache, which outlives the process. It has
// bounds in bytes (its part of the file) and in time: making and writing records takes one
// hundredth of the time that has passed, and five milliseconds. What is put off goes with a later
// write. The first failure ends it, for good; the job is not told.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/os.h"
#include "report/log_form.h"
#include "report/records.h"
#include "trace/recorder.h"

namespace haichi::report {

struct LogPlace {
  std::string path;
  LogPart part;
  std::string head;  ///< of the file; each rank of a node writes the same
};

/// What a rank has done so far, in all.
struct Totals {
  int rank = 0, node = 0;
  int64_t since_start_ns = 0;
  int64_t phase_ns[trace::kPhases] = {}, phase_bytes[trace::kPhases] = {};
  CollectiveAccesses accesses;
};

/// Thread-safe. Makes the file when there is something to write.
class RankLog {
 public:
  /// `clock`: nanoseconds, as haichi::now_ns().
  RankLog(Os& os, LogPlace place, int64_t (*clock)());
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  /// A record, a JSON object, that goes into the file with the next totals. One that has no room is
  /// counted.
  void add(std::string_view record);
  /// Whether add() would count it only; a record need not be made then.
  bool full() const;
  /// Whether there is time to make records for add() and to show() them.
  bool has_time() const;
  /// Writes the totals and what was added, if there is time for it. `making_ns`: how long the
  /// caller took to make them, which counts too.
  void show(const Totals& totals, int64_t making_ns = 0);
  /// The job ends here. Takes no memory and waits for nobody, as it may be called anywhere. `why`
  /// is JSON and has at most kEndBytes - 16 bytes.
  void end(std::string_view why);

  /// Why it was given up, once; else empty.
  std::string trouble();
  const std::string& path() const { return place_.path; }

 private:
  bool open();
  bool may_spend(int64_t now_ns) const;
  bool is_ours() const;
  bool write(std::string_view text, int64_t offset);
  void give_up(std::string why);

  Os& os_;
  const LogPlace place_;
  int64_t (*const clock_)();
  const int64_t start_ns_;
  mutable std::mutex mutex_;
  int fd_ = -1;
  int process_ = 0;  // that has made it
  uint64_t device_ = 0, inode_ = 0;
  int64_t at_ = 0;  // of the next record, in the file
  std::string pending_;
  int64_t shown_ = 0, lost_ = 0, spent_ns_ = 0;
  bool given_up_ = false, full_ = false;
  std::string trouble_;
};

}  // namespace haichi::report
