#include "mpi/requests/message_tags.h"

#include <algorithm>
#include <mutex>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

struct Messages {
  MPI_Comm comm = handles().comm_null;
  std::mutex mutex;
  int most = -1;  // largest tag
  int next = 0;   // never used so far
  std::vector<int> returned;
};

Messages& messages() {
  static Messages* const instance = new Messages;
  return *instance;
}

}  // namespace

void make_message_comm() {
  const Handles& h = handles();
  Messages& m = messages();
  int* most = nullptr;
  int found = 0;
  if (real().Comm_get_attr(h.comm_world, MPI_TAG_UB, &most, &found) != MPI_SUCCESS || !found ||
      real().Comm_dup(h.comm_world, &m.comm) != MPI_SUCCESS)
    return;
  real().Comm_set_errhandler(m.comm, h.errors_return);
  m.most = *most;
}

MPI_Comm message_comm() { return messages().comm; }

MessageTag::MessageTag() {
  Messages& m = messages();
  const std::lock_guard guard(m.mutex);
  if (!m.returned.empty()) {
    value_ = m.returned.back();
    m.returned.pop_back();
  } else if (m.next <= m.most) {
    // Giving it back takes no memory then.
    if (m.returned.capacity() <= size_t(m.next)) m.returned.reserve(2 * size_t(m.next) + 8);
    value_ = m.next++;
  }
}

MessageTag::~MessageTag() {
  if (value_ == kNone) return;
  Messages& m = messages();
  const std::lock_guard guard(m.mutex);
  m.returned.push_back(value_);
}

std::vector<int> tell_tags(MPI_Comm comm, int own) {
  int ranks = 0;
  real().Comm_size(comm, &ranks);
  std::vector<int> tags(static_cast<size_t>(ranks), MessageTag::kNone);
  const MPI_Datatype byte = handles().byte;
  real().Allgather(&own, int(sizeof own), byte, tags.data(), int(sizeof own), byte, comm);
  if (std::find(tags.begin(), tags.end(), MessageTag::kNone) != tags.end()) tags.clear();
  return tags;
}

}  // namespace haichi::mpi
