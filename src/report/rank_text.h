// What one rank says for the report, as JSON that report/part.h reads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "report/kept.h"
#include "report/part.h"
#include "report/storage_record.h"
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
  std::optional<StorageRecord> storage = {};
  KeptRecords<MessageRecord> messages = {};
  KeptRecords<ExchangeSpan> exchanges = {};
};

/// With as many events, messages and exchanges as a rank has room for; later ones are counted.
std::string rank_text(RankRecord record, const Bounds& bounds);

}  // namespace haichi::report
