#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "fake_mpi/calls.h"
#include "fake_mpi/fake_mpi.h"
#include "fake_mpi/world.h"
#include "mpi/compat/handles.h"

namespace haichi::test {
namespace {

using mpi::handles;

std::vector<MPI_User_function*>& operations() {
  static auto* const instance = new std::vector<MPI_User_function*>;
  return *instance;
}

void combine(const std::byte* more, std::byte* into, int count, MPI_Datatype type, MPI_Op op) {
  const auto* from = reinterpret_cast<const int64_t*>(more);
  auto* to = reinterpret_cast<int64_t*>(into);
  for (int i = 0; i < count; ++i) {
    if (op == handles().op_min)
      to[i] = std::min(to[i], from[i]);
    else if (op == handles().op_max)
      to[i] = std::max(to[i], from[i]);
    else if (op == handles().op_sum)
      to[i] += from[i];
    else
      return operations()[size_t(number_of(op))](const_cast<std::byte*>(more), into, &count, &type);
  }
}

int allgather(const void* own, int count, MPI_Datatype type, void* all, int, MPI_Datatype,
              MPI_Comm comm) {
  const LibraryCall call("MPI_Allgather");
  return gather_all(comm, call.fails(), own, size_t(bytes_of(count, type)),
                    static_cast<std::byte*>(all))
             ? MPI_SUCCESS
             : MPI_ERR_OTHER;
}

int allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  const LibraryCall call("MPI_Allreduce");
  const size_t size = size_t(bytes_of(count, type));
  std::vector<std::byte> all(size * size_t(ranks_in(comm)));
  if (!gather_all(comm, call.fails(), own, size, all.data())) return MPI_ERR_OTHER;
  memcpy(result, all.data(), size);
  for (size_t at = size; at < all.size(); at += size)
    combine(&all[at], static_cast<std::byte*>(result), count, type, op);
  return MPI_SUCCESS;
}

int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const LibraryCall call("MPI_Bcast");
  const size_t size = size_t(bytes_of(count, type));
  std::vector<std::byte> all(size * size_t(ranks_in(comm)));
  if (!gather_all(comm, call.fails(), data, size, all.data())) return MPI_ERR_OTHER;
  if (size > 0) memcpy(data, &all[size_t(root) * size], size);
  return MPI_SUCCESS;
}

int barrier(MPI_Comm comm) {
  const LibraryCall call("MPI_Barrier");
  return gather_all(comm, call.fails(), nullptr, 0, nullptr) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/// A library that cannot do what haichi leaves to it.
int alltoall_init(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                  MPI_Request*) {
  const LibraryCall call("MPI_Alltoall_init");
  return MPI_ERR_OTHER;
}

int op_create(MPI_User_function* function, int, MPI_Op* op) {
  const LibraryCall call("MPI_Op_create");
  if (call.fails()) return MPI_ERR_OTHER;
  operations().push_back(function);
  made(Handle::operation, 1);
  *op = handle_of<MPI_Op>(int64_t(operations().size()) - 1);
  return MPI_SUCCESS;
}

int op_free(MPI_Op*) {
  const LibraryCall call("MPI_Op_free");
  made(Handle::operation, -1);
  return MPI_SUCCESS;
}

}  // namespace

bool gather_all(MPI_Comm comm, bool fails, const void* mine, size_t size, std::byte* all) {
  World& world = *self().world;
  const int64_t context = context_of(comm, true);
  static std::map<int64_t, int> calls;  // of each context
  const int number = calls[context]++;
  std::vector<std::byte> letter(size + 1);
  letter[0] = std::byte(fails);
  if (size > 0) memcpy(&letter[1], mine, size);
  const int ranks = ranks_in(comm);
  const int first = ranks == 1 ? self().rank : 0;
  for (int r = 0; r < ranks; ++r)
    world.send(first + r, {context, self().rank, number}, letter.data(), letter.size(), nullptr);
  bool fine = true;
  for (int r = 0; r < ranks; ++r) {
    Mail* mail = nullptr;
    while (!mail) {
      if (world.aborted() >= 0) _exit(world.aborted());
      mail = world.take(self().rank, {context, first + r, number});
      if (!mail) sched_yield();
    }
    fine = fine && mail->bytes()[0] == std::byte{0} && mail->size == letter.size();
    if (fine && size > 0) memcpy(all + size_t(r) * size, mail->bytes() + 1, size);
  }
  return fine;
}

void add_collectives(mpi::Real& table) {
  table.Allgather = allgather;
  table.Allreduce = allreduce;
  table.Bcast = bcast;
  table.Barrier = barrier;
  table.Alltoall_init = alltoall_init;
  table.Op_create = op_create;
  table.Op_free = op_free;
}

}  // namespace haichi::test
