// The open files of this process.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>

#include "mpi/files/file_state.h"
#include "mpi/files/presence.h"

namespace haichi::mpi {

class FileTable {
 public:
  static FileTable& get();
  /// `state`: null if haichi does not handle the file; `presence`: null if nobody has to know.
  void add(MPI_File file, std::shared_ptr<FileState> state, std::unique_ptr<Presence> presence);
  /// Null if haichi does not handle the file.
  std::shared_ptr<FileState> find(MPI_File file);
  /// The state of a file that is about to be closed.
  std::shared_ptr<FileState> remove(MPI_File file);

 private:
  struct Entry {
    std::shared_ptr<FileState> state;
    std::unique_ptr<Presence> presence;
  };
  std::mutex mutex_;
  std::map<MPI_File, Entry> files_;
};

}  // namespace haichi::mpi
