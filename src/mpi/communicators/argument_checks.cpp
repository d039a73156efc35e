#include "mpi/communicators/argument_checks.h"

#include <atomic>

#include "generated/real.h"
#include "mpi/communicators/private_comm.h"
#include "mpi/communicators/world_comm.h"
#include "mpi/compat/handles.h"
#include "mpi/types/datatype.h"

namespace haichi::mpi {
namespace {

constexpr uintptr_t kFirstPage = 4096;  // nobody has memory there

enum class Answer : uint8_t { unknown, no, yes };

/// Whether the library refuses a call on a communicator of this rank alone. What cannot be tried
/// is taken for refused: the library then says so itself.
template <class Try>
bool refused(std::atomic<Answer>& known, Try&& try_it) {
  const Answer before = known.load(std::memory_order_relaxed);
  if (before != Answer::unknown) return before == Answer::yes;
  MPI_Comm self = make_self_comm();
  if (self == handles().comm_null) return true;
  const bool answer = try_it(self) != MPI_SUCCESS;
  real().Comm_free(&self);
  known.store(answer ? Answer::yes : Answer::no, std::memory_order_relaxed);
  return answer;
}

}  // namespace

bool usable(MPI_Datatype type) {
  const Handles& h = handles();
  if (type == h.byte) return true;
  if (type == h.datatype_null) return false;
  // Of no elements MPICH does not ask whether the type is committed. Nobody reads this one.
  const char byte = 0;
  return real().Send(&byte, 1, type, MPI_PROC_NULL, 0, asking_comm()) == MPI_SUCCESS;
}

bool at_null(const void* begin, int64_t count, MPI_Datatype type) {
  if (count == 0 || reinterpret_cast<uintptr_t>(begin) >= kFirstPage) return false;
  const auto shape = decode_type(type);
  return shape && shape->size() > 0 &&
         reinterpret_cast<uintptr_t>(begin) + uintptr_t(shape->pattern->begin()) < kFirstPage;
}

bool looks_at_types_of_nothing() {
  static constinit std::atomic<Answer> known = Answer::unknown;
  return refused(known, [](MPI_Comm self) {
    const int nothing[] = {0};
    const MPI_Datatype types[] = {handles().datatype_null};
    char send[1] = {}, receive[1] = {};
    return real().Alltoallw(send, nothing, nothing, types, receive, nothing, nothing, types, self);
  });
}

bool gathers_uncommitted() {
  static constinit std::atomic<Answer> known = Answer::unknown;
  return !refused(known, [](MPI_Comm self) {
    MPI_Datatype type;
    if (real().Type_contiguous(1, handles().byte, &type) != MPI_SUCCESS) return int(MPI_ERR_OTHER);
    char send[1] = {}, receive[1] = {};
    const int result = real().Allgather(send, 1, handles().byte, receive, 1, type, self);
    real().Type_free(&type);
    return result;
  });
}

bool refuses_same_buffers() {
  static constinit std::atomic<Answer> known = Answer::unknown;
  return refused(known, [](MPI_Comm self) {
    char both[1] = {};
    const MPI_Datatype byte = handles().byte;
    return real().Alltoall(both, 1, byte, both, 1, byte, self);
  });
}

}  // namespace haichi::mpi
