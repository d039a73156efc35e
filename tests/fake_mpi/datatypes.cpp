#include <algorithm>
#include <vector>

#include "fake_mpi/calls.h"
#include "fake_mpi/datatypes.h"
#include "fake_mpi/fake_mpi.h"
#include "mpi/compat/handles.h"

namespace haichi::test {
namespace {

using mpi::handles;

std::vector<Datatype>& types() {
  static auto* const instance = new std::vector<Datatype>;
  return *instance;
}

int add(const Datatype& type, MPI_Datatype* made_type) {
  types().push_back(type);
  made(Handle::datatype, 1);
  *made_type = handle_of<MPI_Datatype>(int64_t(types().size()) - 1);
  return MPI_SUCCESS;
}

int contiguous(int count, MPI_Datatype of, MPI_Datatype* type) {
  const LibraryCall call("MPI_Type_contiguous");
  if (call.fails()) return MPI_ERR_OTHER;
  const Datatype old = datatype(of);
  return add({old.size * count, old.extent * count, MPI_COMBINER_CONTIGUOUS, count, of}, type);
}

int resized(MPI_Datatype of, MPI_Aint, MPI_Aint extent, MPI_Datatype* type) {
  const LibraryCall call("MPI_Type_create_resized");
  if (call.fails()) return MPI_ERR_OTHER;
  return add({datatype(of).size, int64_t(extent), MPI_COMBINER_RESIZED, 0, of}, type);
}

/// Of one block of bytes at the begin: what haichi makes of a row of bytes.
int structure(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype* old,
              MPI_Datatype* type) {
  const LibraryCall call("MPI_Type_create_struct");
  if (call.fails() || count != 1 || places[0] != 0) return MPI_ERR_OTHER;
  const int64_t size = lengths[0] * datatype(old[0]).size;
  return add({size, size, MPI_COMBINER_STRUCT, count, old[0]}, type);
}

int duplicate(MPI_Datatype of, MPI_Datatype* type) {
  const LibraryCall call("MPI_Type_dup");
  if (call.fails()) return MPI_ERR_OTHER;
  return add(datatype(of), type);
}

int free_type(MPI_Datatype* type) {
  const LibraryCall call("MPI_Type_free");
  if (call.fails()) return MPI_ERR_OTHER;
  made(Handle::datatype, -1);
  *type = handles().datatype_null;
  return MPI_SUCCESS;
}

int commit(MPI_Datatype*) {
  const LibraryCall call("MPI_Type_commit");
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int size(MPI_Datatype type, MPI_Count* size) {
  const LibraryCall call("MPI_Type_size_x");
  *size = datatype(type).size;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int get_extent(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  const LibraryCall call("MPI_Type_get_extent_x");
  *lower = 0;
  *extent = datatype(type).extent;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int get_envelope(MPI_Datatype type, int* ints, int* addresses, int* old_types, int* combiner) {
  const LibraryCall call("MPI_Type_get_envelope");
  const Datatype of = datatype(type);
  *combiner = of.combiner;
  *ints = of.combiner == MPI_COMBINER_CONTIGUOUS;
  *addresses = of.combiner == MPI_COMBINER_RESIZED ? 2 : 0;
  *old_types = of.combiner != MPI_COMBINER_NAMED;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int get_contents(MPI_Datatype type, int, int, int, int* ints, MPI_Aint* addresses,
                 MPI_Datatype* old_types) {
  const LibraryCall call("MPI_Type_get_contents");
  if (call.fails()) return MPI_ERR_OTHER;
  const Datatype of = datatype(type);
  if (of.combiner == MPI_COMBINER_CONTIGUOUS) ints[0] = of.count;
  if (of.combiner == MPI_COMBINER_RESIZED) {
    addresses[0] = 0;
    addresses[1] = MPI_Aint(of.extent);
  }
  old_types[0] = of.old;
  if (datatype(of.old).combiner != MPI_COMBINER_NAMED) made(Handle::datatype, 1);
  return MPI_SUCCESS;
}

}  // namespace

Datatype datatype(MPI_Datatype type) {
  if (type == handles().byte) return {1, 1, MPI_COMBINER_NAMED, 0, type};
  if (type == handles().int64) return {8, 8, MPI_COMBINER_NAMED, 0, type};
  return types().at(size_t(number_of(type)));
}

int64_t bytes_of(int count, MPI_Datatype type) { return count * datatype(type).size; }

void add_datatypes(mpi::Real& table) {
  table.Type_contiguous = contiguous;
  table.Type_create_resized = resized;
  table.Type_create_struct = structure;
  table.Type_dup = duplicate;
  table.Type_free = free_type;
  table.Type_commit = commit;
  table.Type_size_x = size;
  table.Type_get_extent_x = get_extent;
  table.Type_get_envelope = get_envelope;
  table.Type_get_contents = get_contents;
}

}  // namespace haichi::test
