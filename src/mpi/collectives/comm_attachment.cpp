#include "mpi/collectives/comm_attachment.h"

#include <mutex>
#include <set>

#include "generated/real.h"
#include "mpi/communicators/private_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/tuning/decision_file.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

/// All that there are, for what is still there at MPI_Finalize.
struct Everything {
  std::mutex mutex;
  std::set<CommAttachment*> attached;
};

Everything& everything() {
  static Everything* const instance = new Everything;
  return *instance;
}

void keep_records(const CommAttachment& attachment) {
  if (attachment.state) {
    const CommState& state = *attachment.state;
    if (state.rank == 0) write_decisions(state.runtime, state.placement, state.decided());
    for (report::CollectiveRecord& record : state.records())
      report::keep_collective_record(std::move(record));
  }
  if (attachment.peers)
    for (report::CollectiveRecord& record : attachment.peers->records())
      report::keep_collective_record(std::move(record));
}

/// What the log has of them is the last that it will have.
void log_last(CommAttachment& attachment) {
  if (attachment.state) attachment.state->log_last();
  if (attachment.peers) attachment.peers->log_last();
}

// A duplicate has collectives of its own. Not MPI_COMM_NULL_COPY_FN, which in Open MPI is a symbol
// of libmpi: see "Predefined handles" in docs/notes.md.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int forget(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<CommAttachment> attachment(static_cast<CommAttachment*>(value));
  {
    Everything& all = everything();
    const std::lock_guard guard(all.mutex);
    all.attached.erase(attachment.get());
  }
  log_last(*attachment);
  keep_records(*attachment);
  if (attachment->state) give_back_private_comm(attachment->state->own);
  return MPI_SUCCESS;
}

/// MPI_KEYVAL_INVALID if there is none to be had.
int keyval() {
  static const int made = [] {
    int value = MPI_KEYVAL_INVALID;
    if (real().Comm_create_keyval(copy_nothing, forget, &value, nullptr) != MPI_SUCCESS)
      value = MPI_KEYVAL_INVALID;
    return value;
  }();
  return made;
}

/// True if all ranks have been in the call with this result, and not one of them alone with
/// arguments that the library refused at once.
bool all_were_in_it(int result) {
  int error_class = MPI_SUCCESS;
  if (result == MPI_SUCCESS) return true;
  return real().Error_class(result, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

}  // namespace

CommAttachment* find_attachment(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  if (keyval() == MPI_KEYVAL_INVALID ||
      real().Comm_get_attr(comm, keyval(), &value, &found) != MPI_SUCCESS || !found)
    return nullptr;
  return static_cast<CommAttachment*>(value);
}

CommAttachment* attachment_of(MPI_Comm comm) {
  if (CommAttachment* const known = find_attachment(comm)) return known;
  auto made = std::make_unique<CommAttachment>();
  if (keyval() == MPI_KEYVAL_INVALID ||
      real().Comm_set_attr(comm, keyval(), made.get()) != MPI_SUCCESS)
    return nullptr;
  Everything& all = everything();
  const std::lock_guard guard(all.mutex);
  all.attached.insert(made.get());
  return made.release();
}

CommAttachment* attachment_for_call(MPI_Comm comm) {
  if (Runtime::get() == nullptr || comm == handles().comm_null) return nullptr;
  return attachment_of(comm);
}

void library_did(CommAttachment& attached, MPI_Comm comm, int result, int64_t bytes) {
  Runtime* const runtime = Runtime::get();
  if (runtime == nullptr || !all_were_in_it(result)) return;
  attached.bytes += bytes;
  if (++attached.calls < runtime->calls_before_a_look && attached.bytes < kBytesWorthAState) return;
  attached.settled = true;
  attached.state = make_state(*runtime, comm);
}

void forget_attachments() {
  Everything& all = everything();
  const std::lock_guard guard(all.mutex);
  for (CommAttachment* attachment : all.attached) {
    keep_records(*attachment);
    // MPI_Finalize may delete the attributes, when the runtime is gone.
    attachment->state.reset();
    attachment->peers.reset();
  }
}

}  // namespace haichi::mpi
