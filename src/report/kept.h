// The records of files that were closed and communicators that were freed, and what a trace needs,
// until the report is written. Thread-safe and bounded: later ones are counted.
#pragma once

#include <cstdint>
#include <vector>

#include "report/records.h"
#include "report/trace_records.h"

namespace haichi::report {

/// Most of each that are kept.
inline constexpr size_t kMostListed = 200;

/// The same for a trace.
inline constexpr size_t kMostTraced = 1000;

void keep_file_record(FileRecord record);
void keep_collective_record(CollectiveRecord record);
void keep_message(const MessageRecord& message);
void keep_exchange(const ExchangeSpan& exchange);

template <class Record>
struct KeptRecords {
  std::vector<Record> records;
  int64_t not_listed = 0;  ///< how many more there were
};

/// What was kept so far, which is then kept no more: the report is written once.
KeptRecords<FileRecord> take_file_records();
KeptRecords<CollectiveRecord> take_collective_records();
KeptRecords<MessageRecord> take_messages();
KeptRecords<ExchangeSpan> take_exchanges();

}  // namespace haichi::report
