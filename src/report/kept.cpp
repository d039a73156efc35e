#include "report/kept.h"

#include <mutex>
#include <utility>

namespace haichi::report {
namespace {

template <class Record, size_t most = kMostListed>
class Kept {
 public:
  /// Never destroyed: files may be closed, and communicators freed, very late.
  static Kept& get() {
    static Kept* const instance = new Kept;
    return *instance;
  }

  void keep(Record record) {
    const std::lock_guard guard(mutex_);
    if (kept_.records.size() < most)
      kept_.records.push_back(std::move(record));
    else
      ++kept_.not_listed;
  }

  KeptRecords<Record> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(kept_, {});
  }

 private:
  std::mutex mutex_;
  KeptRecords<Record> kept_;
};

using KeptMessages = Kept<MessageRecord, kMostTraced>;
using KeptExchanges = Kept<ExchangeSpan, kMostTraced>;

}  // namespace

void keep_file_record(FileRecord record) { Kept<FileRecord>::get().keep(std::move(record)); }

void keep_collective_record(CollectiveRecord record) {
  Kept<CollectiveRecord>::get().keep(std::move(record));
}

void keep_message(const MessageRecord& message) { KeptMessages::get().keep(message); }

void keep_exchange(const ExchangeSpan& exchange) { KeptExchanges::get().keep(exchange); }

KeptRecords<FileRecord> take_file_records() { return Kept<FileRecord>::get().take(); }

KeptRecords<CollectiveRecord> take_collective_records() {
  return Kept<CollectiveRecord>::get().take();
}

KeptRecords<MessageRecord> take_messages() { return KeptMessages::get().take(); }

KeptRecords<ExchangeSpan> take_exchanges() { return KeptExchanges::get().take(); }

}  // namespace haichi::report
