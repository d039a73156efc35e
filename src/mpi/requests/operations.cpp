#include "mpi/requests/operations.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/clock.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

constinit std::atomic<int> g_open_operations = 0;

struct OpenOperation {
  const std::shared_ptr<Operation> operation;
  const MPI_Request request;
  const std::function<void()> complete_request;

  std::mutex advancing;
  std::atomic<bool> complete = false;
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
  // First, since the handle may stand for another request as soon as this one is complete.
  if (!open.operation->failed()) forget_operation(open.request);
  open.complete = true;
  open.complete_request();
}

std::shared_ptr<OpenOperation> find(MPI_Request request) {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  const auto found = all.open.find(request);
  return found == all.open.end() ? nullptr : found->second;
}

Progress advance(OpenOperation& open) {
  const std::unique_lock advancing(open.advancing, std::try_to_lock);
  if (!advancing) return Progress::none;  // another thread is at it
  if (open.complete) return Progress::complete;
  const Progress made = open.operation->advance();
  if (made == Progress::complete) complete(open);
  return made;
}

/// Says that request `index` of `count` ended with `code`. Where nothing failed before, the library
/// has left that field of all statuses alone.
int put_into_status(int result, const Told& told, int count, int index, int code) {
  if (told.statuses == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
  const int given = told.indices ? *told.number : count;
  for (int i = 0; result != MPI_ERR_IN_STATUS && i < given; ++i)
    told.statuses[i].MPI_ERROR = MPI_SUCCESS;
  const auto at = told.indices ? std::find(told.indices, told.indices + given, index) - told.indices
                               : ptrdiff_t(index);
  told.statuses[at].MPI_ERROR = code;
  return MPI_ERR_IN_STATUS;
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

void let_go_of_operation(MPI_Request request) {
  const auto open = find(request);
  if (!open || !open->operation->needs_nobody()) return;
  const std::lock_guard advancing(open->advancing);
  if (open->complete) return;
  forget_operation(request);
  open->complete = true;
  open->complete_request();
}

void forget_operation(MPI_Request request) {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  if (all.open.erase(request) > 0) g_open_operations.fetch_sub(1, std::memory_order_relaxed);
}

OperationsAmong::OperationsAmong(const MPI_Request* requests, int count)
    : requests_(requests), count_(count), begin_ns_(now_ns()) {
  Table& all = table();
  const std::lock_guard guard(all.mutex);
  for (int i = 0; i < count; ++i)
    if (const auto found = all.open.find(requests[i]); found != all.open.end())
      (found->second->complete ? failed_ : open_).push_back({i, found->second});
}

OperationsAmong::~OperationsAmong() {
  for (const Entry& each : open_) each.open->operation->looked_after(now_ns() - begin_ns_);
}

Progress OperationsAmong::advance() {
  Progress all = Progress::none;
  std::erase_if(open_, [&](const Entry& each) {
    const Progress made = mpi::advance(*each.open);
    if (made == Progress::none) return false;
    all = Progress::some;
    if (made == Progress::some) return false;
    Operation& operation = *each.open->operation;
    operation.looked_after(now_ns() - begin_ns_);
    if (operation.failed()) failed_.push_back(each);
    return true;
  });
  return open_.empty() ? Progress::complete : all;
}

int OperationsAmong::tell(int result, const Told& told) {
  if (told.how == Told::How::nothing) return result;
  for (const Entry& each : failed_) {
    if (requests_[each.index] != handles().request_null) continue;
    const int code = each.open->operation->tell_failure();
    if (told.how == Told::How::code) return code;
    result = put_into_status(result, told, count_, each.index, code);
  }
  return result;
}

}  // namespace haichi::mpi
