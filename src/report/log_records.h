// The records of a rank's log as bytes, which are made in a tenth of a microsecond while the
// program waits. Numbers take as many bytes as they need, and the words of a call, which are mostly
// those of the call before, stand apart from it and once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/records.h"
#include "trace/recorder.h"

namespace haichi::report {

/// What a rank has done so far, in all.
struct Totals {
  int rank = 0, node = 0;
  int64_t since_start_ns = 0;
  int64_t phase_ns[trace::kPhases] = {}, phase_bytes[trace::kPhases] = {};
  CollectiveAccesses accesses;
  int64_t shown = 0;  ///< how many the rank has written with these
  int64_t lost = 0;   ///< records that had no room
};

/// A call as the log has it.
struct LoggedCall {
  int64_t key = 0;    ///< of its file
  int64_t words = 0;  ///< their number in the log
  CallRecord call;    ///< but for its words
};

void pack(std::string& bytes, const Totals& totals);
void pack_file(std::string& bytes, const FileRecord& file);  ///< but for its calls
void pack_number(std::string& bytes, int64_t number);
/// Name, layout, order, aggregators and reasons.
void pack_words(std::string& bytes, const CallRecord& call);
void pack_call(std::string& bytes, int64_t key, int64_t words, const CallRecord& call);
/// All but what changes with each call, which are the counts.
void pack_collective(std::string& bytes, const CollectiveRecord& record);
void pack_counts(std::string& bytes, const CollectiveRecord& record);

/// Each returns false if these are not the bytes of one.
bool unpack(std::string_view bytes, Totals& totals);
bool unpack_file(std::string_view bytes, FileRecord& file);
bool unpack_words(std::string_view bytes, CallRecord& call);
bool unpack_call(std::string_view bytes, LoggedCall& logged);
bool unpack_collective(std::string_view bytes, CollectiveRecord& record);
/// Those of as many candidates as `record` has.
bool unpack_counts(std::string_view bytes, CollectiveRecord& record);
/// Takes a number off the beginning of `bytes`.
bool unpack_number(std::string_view& bytes, int64_t& number);

}  // namespace haichi::report
