#include "mpi/log/summary_entries.h"

#include <algorithm>
#include <mutex>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi::summary {
namespace {

void combine(void* more, void* into, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const Entries*>(more);
  auto* to = static_cast<Entries*>(into);
  for (int i = 0; i < *count; ++i) add(from[i], to[i]);
}

/// One element of the type is all entries, so that no MPI library cuts them apart.
struct Operation {
  MPI_Op op;
  MPI_Datatype type;
  bool made = false;
};

std::mutex& operation_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

Operation& kept_operation() {
  static Operation* const operation = new Operation;
  return *operation;
}

}  // namespace

void add(const Entries& from, Entries& to) {
  for (int e = 0; e < first_sum; ++e) to[e] = std::min(to[e], from[e]);
  for (int e = first_sum; e < entries; ++e)
    if (__builtin_add_overflow(to[e], from[e], &to[e])) to[e] = INT64_MAX;
}

bool can_reduce() {
  const std::lock_guard guard(operation_mutex());
  Operation& kept = kept_operation();
  if (kept.made) return true;
  if (real().Op_create(combine, 1, &kept.op) != MPI_SUCCESS) return false;
  kept.made = real().Type_contiguous(entries, handles().int64, &kept.type) == MPI_SUCCESS &&
              real().Type_commit(&kept.type) == MPI_SUCCESS;
  return kept.made;
}

bool reduce(const Entries& own, Entries& all, MPI_Comm comm) {
  const Operation& made = kept_operation();
  return real().Allreduce(own, all, 1, made.type, made.op, comm) == MPI_SUCCESS;
}

void forget_reduction() {
  const std::lock_guard guard(operation_mutex());
  Operation& kept = kept_operation();
  if (!kept.made) return;
  real().Op_free(&kept.op);
  real().Type_free(&kept.type);
  kept.made = false;
}

}  // namespace haichi::mpi::summary
