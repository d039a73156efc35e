// The log of one rank: what it has recorded so far, in a file, so that it is there when the process
// is killed. See docs/adr/0020-a-log-until-the-end.md.
//
// It is written by pwrite(2) into the kernel's page cache, which outlives the process. It has
// bounds in bytes (its part of the file) and in time: writing takes one two-hundredth of the time
// that has passed, so the last calls of a burst wait for a later one. The first failure ends it,
// for good; the job is not told.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/os.h"
#include "report/log_form.h"
#include "report/log_records.h"
#include "report/records.h"

namespace haichi::report {

struct LogPlace {
  std::string path;
  LogPart part;
  std::string head;  ///< of the file; each rank of a node writes the same
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
  /// counted, as those are that follow.
  void add(std::string_view record);
  void add_file(const FileRecord& file);
  /// Of the file `key`.
  void add_call(int64_t key, const CallRecord& call);
  /// As it is now, in place of what was added of it before. Again when its calls have grown by a
  /// quarter.
  void add_collective(CollectiveInLog& known, const CollectiveRecord& record);
  /// Whether there is time to show() at `now_ns`: a share of what has passed, twice as large
  /// `last`, where nothing may come for long.
  bool has_time(int64_t now_ns, bool last = false) const;
  /// Writes the totals and what was added, whether there is time or not.
  void show(Totals totals);
  /// The job ends here: writes what was added, totals if given, and `why`, JSON of at most
  /// kEndBytes
  /// - kFrameHead bytes. Takes no memory and waits for nobody, as it may be called anywhere.
  void end(std::string_view why, const Totals* totals);

  /// Why it was given up, once; else empty.
  std::string trouble();
  const std::string& path() const { return place_.path; }

 private:
  bool open();
  bool is_ours() const;
  /// What `payload()` adds to `pending_` is a frame.
  template <class Payload>
  void append(FrameKind kind, const Payload& payload);
  bool drop_unless_room(size_t begin);
  int64_t add_words(const CallRecord& call);
  void show_totals(Totals totals);
  void show_pending();
  bool write(std::string_view bytes, int64_t offset);
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
  std::string pending_, totals_, packed_words_;
  // The words of the last calls, packed: the n-th ones in place n modulo the places. Those from
  // `words_from_` on are in the file or pending.
  std::array<std::string, 16> words_;
  int64_t words_made_ = 0, words_from_ = 0;
  int64_t collectives_ = 0;
  int64_t shown_ = 0, lost_ = 0, spent_ns_ = 0;
  bool given_up_ = false, full_ = false;
  std::string trouble_;
};

}  // namespace haichi::report
