#include "report/kept.h"

#include <mutex>
#include <utility>

namespace haichi::report {
namespace {

template <class Record>
class Kept {
 public:
  /// Never destroyed: files may be closed, and communicators freed, very late.
  static Kept& get(size_t most = kMostListed) {
    static Kept* const instance = new Kept(most);
    return *instance;
  }

  void keep(Record record) {
    const std::lock_guard guard(mutex_);
    if (kept_.records.size() < most_)
      kept_.records.push_back(std::move(record));
    else
      ++kept_.not_listed;
  }

  KeptRecords<Record> take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(kept_, {});
  }

 private:
  explicit Kept(size_t most) : most_(most) {}

  const size_t most_;
  std::mutex mutex_;
  KeptRecords<Record> kept_;
};

}  // namespace

void keep_file_record(FileRecord record) { Kept<FileRecord>::get().keep(std::move(record)); }

void keep_collective_record(CollectiveRecord record) {
  Kept<CollectiveRecord>::get().keep(std::move(record));
}

void keep_message(const MessageRecord& message) {
  Kept<MessageRecord>::get(kMostTraced).keep(message);
}

void keep_exchange(const ExchangeSpan& exchange) {
  Kept<ExchangeSpan>::get(kMostTraced).keep(exchange);
}

KeptRecords<FileRecord> take_file_records() { return Kept<FileRecord>::get().take(); }

KeptRecords<CollectiveRecord> take_collective_records() {
  return Kept<CollectiveRecord>::get().take();
}

KeptRecords<MessageRecord> take_messages() { return Kept<MessageRecord>::get(kMostTraced).take(); }

KeptRecords<ExchangeSpan> take_exchanges() { return Kept<ExchangeSpan>::get(kMostTraced).take(); }

}  // namespace haichi::report
