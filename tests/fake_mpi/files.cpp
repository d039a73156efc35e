#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "fake_mpi/calls.h"
#include "fake_mpi/datatypes.h"
#include "fake_mpi/fake_mpi.h"
#include "mpi/compat/handles.h"

namespace haichi::test {
namespace {

using mpi::handles;

struct File {
  MPI_Comm comm;
  int fd;
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
};

std::map<int64_t, File>& files() {
  static auto* const instance = new std::map<int64_t, File>;
  return *instance;
}

File& file_of(MPI_File file) { return files().at(number_of(file)); }

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info, MPI_File* file) {
  const LibraryCall call("MPI_File_open");
  const int flags = (mode & MPI_MODE_CREATE ? O_CREAT : 0) | O_RDWR | O_CLOEXEC;
  const int fd = open(name, flags, 0644);
  if (!gather_all(comm, call.fails() || fd < 0, nullptr, 0, nullptr)) {
    if (fd >= 0) close(fd);
    return MPI_ERR_IO;
  }
  static int64_t next = 1;
  files()[next] = {comm, fd, 0, handles().byte, handles().byte};
  *file = handle_of<MPI_File>(next++);
  return MPI_SUCCESS;
}

int close_file(MPI_File* file) {
  const File& of = file_of(*file);
  gather_all(of.comm, false, nullptr, 0, nullptr);
  close(of.fd);
  files().erase(number_of(*file));
  *file = handles().file_null;
  return MPI_SUCCESS;
}

int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
             const char*, MPI_Info) {
  File& of = file_of(file);
  of.displacement = displacement;
  of.etype = etype;
  of.filetype = filetype;
  return gather_all(of.comm, false, nullptr, 0, nullptr) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int get_atomicity(MPI_File, int* atomic) {
  const LibraryCall call("MPI_File_get_atomicity");
  *atomic = 0;
  return call.fails() ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int call_errhandler(MPI_File, int) { return MPI_SUCCESS; }

/// Carries out an access of whole tiles of the view, rank by rank. It is the program's call that
/// haichi leaves to the library, and never fails.
template <class Transfer>
int access_all(MPI_File file, MPI_Offset offset, int count, MPI_Datatype type,
               Transfer&& transfer) {
  const MemoryOfLibrary memory;
  const File& of = file_of(file);
  gather_all(of.comm, false, nullptr, 0, nullptr);
  const Datatype tile = datatype(of.filetype);
  const int64_t begin = offset * datatype(of.etype).size, size = bytes_of(count, type);
  for (int64_t at = begin; at < begin + size; at += tile.size)
    transfer(of.fd, at - begin, tile.size, of.displacement + at / tile.size * tile.extent);
  gather_all(of.comm, false, nullptr, 0, nullptr);
  return MPI_SUCCESS;
}

int write_at_all(MPI_File file, MPI_Offset offset, const void* data, int count, MPI_Datatype type,
                 MPI_Status*) {
  return access_all(file, offset, count, type,
                    [&](int fd, int64_t at, int64_t size, int64_t place) {
                      (void)!pwrite(fd, static_cast<const char*>(data) + at, size_t(size), place);
                    });
}

int read_at_all(MPI_File file, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                MPI_Status*) {
  return access_all(file, offset, count, type,
                    [&](int fd, int64_t at, int64_t size, int64_t place) {
                      (void)!pread(fd, static_cast<char*>(data) + at, size_t(size), place);
                    });
}

int set_elements(MPI_Status*, MPI_Datatype, MPI_Count) { return MPI_SUCCESS; }

}  // namespace

void add_files(mpi::Real& table) {
  table.File_open = open_file;
  table.File_close = close_file;
  table.File_set_view = set_view;
  table.File_get_atomicity = get_atomicity;
  table.File_call_errhandler = call_errhandler;
  table.File_write_at_all = write_at_all;
  table.File_read_at_all = read_at_all;
  table.Status_set_elements_x = set_elements;
}

}  // namespace haichi::test
