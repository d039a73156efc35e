#include "mpi/operations.h"

#include <map>
#include <mutex>

#include "base/clock.h"

namespace haichi::mpi {

constinit std::atomic<int> g_open_operations = 0;

struct OpenOperation {
  const std::shared_ptr<Operation> operation;
  const MPI_Request request;
  const std::function<void()> complete_request;

  std::mutex advancing;
  bool complete = false;
};

namespace {

struct Table {
  std::mutex mutex;
  std::map<MPI_Request, std::shared_ptr<OpenOperation>> open;
};

Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

void complete(OpenOperation& open) {
  open.complete = true;
  {
    // First, since the handle may stand for another request as soon as this one is complete.
    Table& all = table();
    const std::lock_guard guard(all.mutex);
    all.open.erase(open.request);
  }
  g_open_operations.fetch_sub(1, std::memory_order_relaxed);
  open.complete_request();
}

Progress advance(OpenOperation& open) {
  const std::unique_lock advancing(open.advancing, std::try_to_lock);
  if (!advancing) return Progress::none;  // another thread is at it
  if (open.complete) return Progress::complete;
  const Progress made = open.operation->advance();
  if (made == Progress::complete) complete(open);
  return made;
}

}  // namespace

void open_operation(std::shared_ptr<Operation> operation, MPI_Request request,
                    std::function<void()> complete_request) {
  auto open =
      std::make_shared<OpenOperation>(std::move(operation), request, std::move(complete_request));
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  all.open.emplace(request, std::move(open));
  g_open_operations.fetch_add(1, std::memory_order_relaxed);
}

OperationsAmong::OperationsAmong(const MPI_Request* requests, int count) : begin_ns_(now_ns()) {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  for (int i = 0; i < count; ++i)
    if (const auto found = all.open.find(requests[i]); found != all.open.end())
      open_.push_back(found->second);
}

OperationsAmong::~OperationsAmong() {
  for (const auto& each : open_) each->operation->looked_after(now_ns() - begin_ns_);
}

Progress OperationsAmong::advance() {
  Progress all = Progress::none;
  std::erase_if(open_, [&](const std::shared_ptr<OpenOperation>& each) {
    const Progress made = mpi::advance(*each);
    if (made == Progress::none) return false;
    all = Progress::some;
    if (made == Progress::some) return false;
    each->operation->looked_after(now_ns() - begin_ns_);
    return true;
  });
  return open_.empty() ? Progress::complete : all;
}

}  // namespace haichi::mpi
