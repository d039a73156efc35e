#include "measure/suite/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

namespace haichi::measure {

int open_scratch(const Case& c, MPI_Comm comm, MPI_File* file) {
  return MPI_File_open(comm, c.file.c_str(),
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       file);
}

MPI_File scratch_file(Case& c) {
  return c.opened("MPI_File_open", [&](MPI_File* file) { return open_scratch(c, c.comm, file); });
}

void must_be_whole(MPI_Status* status, int64_t bytes) {
  MPI_Count written = 0;
  must(MPI_Get_elements_x(status, MPI_BYTE, &written));
  if (written == bytes) return;
  throw CallFailed(fmt::format("of {} bytes {} were written: is the disk full?", bytes,
                               written == MPI_UNDEFINED ? 0 : written));
}

void fill(const Case& c, MPI_File file, MPI_Offset offset, const char* memory, int bytes) {
  MPI_Status status;
  c.alone("MPI_File_write_at",
          [&] { must(MPI_File_write_at(file, offset, memory, bytes, MPI_BYTE, &status)); });
  must_be_whole(&status, bytes);
}

#ifdef OPEN_MPI
void need_locks(const Case&) {}
#else
void need_locks(const Case& c) {
  const std::string path = fmt::format("{}.locks.{}", c.file, c.rank);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) throw CallFailed(fmt::format("{}: {}", path, strerror(errno)));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  const int code = fcntl(fd, F_SETLK, &lock) == 0 ? 0 : errno;
  close(fd);
  unlink(path.c_str());
  if (code != 0)
    throw CallFailed(
        fmt::format("the file system has no locks ({}), without which this MPI "
                    "library ends the job",
                    strerror(code)));
}
#endif

}  // namespace haichi::measure
