// What one rank says for the report, as JSON that report/part.h reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "report/kept.h"
#include "report/part.h"
#include "trace/recorder.h"

namespace haichi::report {

struct RankRecord {
  int rank = 0;
  int node = 0;
  const trace::Recorder& recorder;
  CollectiveAccesses accesses;
  KeptRecords<FileRecord> files;
  KeptRecords<CollectiveRecord> collectives;
  std::map<std::string, int64_t> notes;  ///< text -> how often
};

/// With as many events as a rank has room for; later ones are counted.
std::string rank_text(RankRecord record, const Bounds& bounds);

}  // namespace haichi::report
