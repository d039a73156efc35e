#include "mpi/files/file_table.h"

#include <utility>

namespace haichi::mpi {

FileTable& FileTable::get() {
  static FileTable* const table = new FileTable;  // never destroyed: hooks may run very late
  return *table;
}

void FileTable::add(MPI_File file, std::shared_ptr<FileState> state,
                    std::unique_ptr<Presence> presence) {
  if (!state && !presence) return;
  const std::lock_guard guard(mutex_);
  files_[file] = {std::move(state), std::move(presence)};
}

std::shared_ptr<FileState> FileTable::find(MPI_File file) {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second.state;
}

std::shared_ptr<FileState> FileTable::remove(MPI_File file) {
  const std::lock_guard guard(mutex_);
  auto node = files_.extract(file);
  return node.empty() ? nullptr : std::move(node.mapped().state);
}

}  // namespace haichi::mpi
