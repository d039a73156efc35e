#include <string.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "fake_mpi/calls.h"
#include "fake_mpi/fake_mpi.h"
#include "fake_mpi/world.h"
#include "mpi/compat/handles.h"

namespace haichi::test {
namespace {

using mpi::handles;

// Every rank makes its communicators in the same order, so that they have the same numbers on all.
struct Communicators {
  int64_t made = 0;
  int keys = 0;
  std::map<std::pair<int64_t, int>, void*> attributes;  // by communicator and key
};

Communicators& communicators() {
  static auto* const instance = new Communicators;
  return *instance;
}

// As a number: 0 and 1 are predefined.
int64_t number_of_comm(MPI_Comm comm) {
  if (comm == handles().comm_world) return 0;
  if (comm == handles().comm_self) return 1;
  return number_of(comm);
}

int dup(MPI_Comm comm, MPI_Comm* copy) {
  const LibraryCall call("MPI_Comm_dup");
  if (!gather_all(comm, call.fails(), nullptr, 0, nullptr)) return MPI_ERR_OTHER;
  *copy = handle_of<MPI_Comm>(2 + communicators().made++);
  made(Handle::communicator, 1);
  return MPI_SUCCESS;
}

int free_comm(MPI_Comm* comm) {
  const LibraryCall call("MPI_Comm_free");
  if (call.fails()) return MPI_ERR_OTHER;
  *comm = handles().comm_null;
  made(Handle::communicator, -1);
  return MPI_SUCCESS;
}

int rank(MPI_Comm comm, int* rank) {
  const LibraryCall call("MPI_Comm_rank");
  *rank = comm == handles().comm_self ? 0 : self().rank;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int size(MPI_Comm comm, int* size) {
  const LibraryCall call("MPI_Comm_size");
  *size = ranks_in(comm);
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int test_inter(MPI_Comm, int* inter) {
  const LibraryCall call("MPI_Comm_test_inter");
  *inter = 0;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int topology(MPI_Comm, int* topology) {
  const LibraryCall call("MPI_Topo_test");
  *topology = MPI_UNDEFINED;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int get_parent(MPI_Comm* parent) {
  *parent = handles().comm_null;
  return MPI_SUCCESS;
}

int create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int* key, void*) {
  *key = 1000 + communicators().keys++;
  return MPI_SUCCESS;
}

int set_attribute(MPI_Comm comm, int key, void* value) {
  communicators().attributes[{number_of_comm(comm), key}] = value;
  return MPI_SUCCESS;
}

int get_attribute(MPI_Comm comm, int key, void* value, int* found) {
  static int highest_tag = 32767;
  void* answer = &highest_tag;
  *found = key == MPI_TAG_UB;
  if (!*found) {
    const auto entry = communicators().attributes.find({number_of_comm(comm), key});
    *found = entry != communicators().attributes.end();
    if (*found) answer = entry->second;
  }
  if (*found) memcpy(value, &answer, sizeof answer);
  return MPI_SUCCESS;
}

int set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
int call_errhandler(MPI_Comm, int) { return MPI_SUCCESS; }

int error_class(int code, int* of) {
  *of = code;
  return MPI_SUCCESS;
}

int init(int*, char***) { return MPI_SUCCESS; }
int finalize() { return MPI_SUCCESS; }

int query_thread(int* level) {
  *level = MPI_THREAD_SINGLE;
  return MPI_SUCCESS;
}

int get_library_version(char* text, int* length) {
  strcpy(text, "fake");
  *length = 4;
  return MPI_SUCCESS;
}

int abort_job(MPI_Comm, int code) {
  self().world->abort(code);
  _exit(code);
}

}  // namespace

int64_t context_of(MPI_Comm comm, bool collective) {
  return number_of_comm(comm) * 2 + collective + (ranks_in(comm) == 1 ? self().rank * 1000 : 0);
}

int ranks_in(MPI_Comm comm) {
  return comm == handles().comm_self ? 1 : self().world->options.ranks;
}

void add_communicators(mpi::Real& table) {
  table.Comm_dup = dup;
  table.Comm_free = free_comm;
  table.Comm_rank = rank;
  table.Comm_size = size;
  table.Comm_test_inter = test_inter;
  table.Topo_test = topology;
  table.Comm_get_parent = get_parent;
  table.Comm_create_keyval = create_keyval;
  table.Comm_set_attr = set_attribute;
  table.Comm_get_attr = get_attribute;
  table.Comm_set_errhandler = set_errhandler;
  table.Comm_call_errhandler = call_errhandler;
  table.Error_class = error_class;
  table.Init = init;
  table.Finalize = finalize;
  table.Query_thread = query_thread;
  table.Get_library_version = get_library_version;
  table.Abort = abort_job;
}

}  // namespace haichi::test
