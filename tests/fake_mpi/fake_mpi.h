// The functions of an MPI library for the ranks of a fake job (job.h), by the table of
// generated/real.h: those that src/mpi calls on the way from MPI_Init to the end of a collective
// file access or of a nonblocking or persistent all-to-all. The others are null: a test that comes
// to one crashes there.
//
// A request completes after some looks at it, drawn from the job's seed. Half of the sends are
// complete when their receive is there, the others at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "generated/real.h"

namespace haichi::test {

/// A handle of the fake library's own. MPI libraries have numbers or pointers.
template <class Handle>
Handle handle_of(int64_t number) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(uintptr_t(number + (1 << 20)));
  else
    return Handle(number + (1 << 20));
}
template <class Handle>
int64_t number_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return int64_t(reinterpret_cast<uintptr_t>(handle)) - (1 << 20);
  else
    return int64_t(handle) - (1 << 20);
}

void add_messages(mpi::Real& table);
void add_collectives(mpi::Real& table);
void add_communicators(mpi::Real& table);
void add_datatypes(mpi::Real& table);
void add_files(mpi::Real& table);

/// Bytes of so many elements of a type that has no holes.
int64_t bytes_of(int count, MPI_Datatype type);

/// Keeps messages of collective functions apart from the program's, and of communicators from each
/// other.
int64_t context_of(MPI_Comm comm, bool collective);
/// Ranks of all communicators are those of MPI_COMM_WORLD, but for MPI_COMM_SELF.
int ranks_in(MPI_Comm comm);

/// Every rank's bytes, in the order of the ranks: what all collective functions are made of. False
/// if any rank's call fails.
bool gather_all(MPI_Comm comm, bool fails, const void* mine, size_t size, std::byte* all);

}  // namespace haichi::test
