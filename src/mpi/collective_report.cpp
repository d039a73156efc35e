#include "mpi/collective_report.h"

#include <mutex>

namespace haichi::mpi {
namespace {

constexpr size_t kMostListed = 200;

struct Kept {
  std::mutex mutex;
  std::vector<CollectiveRecord> records;
  int64_t not_listed = 0;
};

Kept& kept() {
  static Kept* const instance = new Kept;  // never destroyed: communicators may be freed very late
  return *instance;
}

}  // namespace

void keep_collective_record(CollectiveRecord record) {
  Kept& k = kept();
  const std::lock_guard guard(k.mutex);
  if (k.records.size() < kMostListed)
    k.records.push_back(std::move(record));
  else
    ++k.not_listed;
}

std::vector<CollectiveRecord> kept_collective_records(int64_t& not_listed) {
  Kept& k = kept();
  const std::lock_guard guard(k.mutex);
  not_listed = k.not_listed;
  return k.records;
}

}  // namespace haichi::mpi
