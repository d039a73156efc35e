// What one rank says for the report, as JSON that report/merge.h reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "report/kept.h"
#include "trace/recorder.h"

namespace haichi::report {

struct RankRecord {
  int rank = 0, ranks = 1;
  int node = 0;
  const trace::Recorder& recorder;
  CollectiveAccesses accesses;
  KeptRecords<FileRecord> files;
  KeptRecords<CollectiveRecord> collectives;
  std::map<std::string, int64_t> notes;  ///< text -> how often
};

/// In no more than the rank's share of `most_bytes`, which all ranks may say together (the setting
/// report.bytes): rank 0 has to keep all of it. Rank 0, which knows the reasons, has a share of its
/// own. What is left out is noted.
std::string rank_text(RankRecord record, int64_t most_bytes);

}  // namespace haichi::report
