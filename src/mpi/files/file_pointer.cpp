#include "mpi/files/file_pointer.h"

#include "generated/real.h"

namespace haichi::mpi {

constinit std::atomic<int> FilePointer::known_pointers_ = 0;

void FilePointer::set(std::optional<MPI_Offset> offset) {
  known_pointers_ += int(offset.has_value()) - int(offset_.has_value());
  offset_ = offset;
}

std::optional<MPI_Offset> FilePointer::known() const {
  const std::lock_guard guard(mutex_);
  return offset_;
}

std::optional<MPI_Offset> FilePointer::position(MPI_File file) {
  const std::lock_guard guard(mutex_);
  MPI_Offset offset = 0;
  if (offset_) return offset_;
  if (real().File_get_position(file, &offset) != MPI_SUCCESS) return std::nullopt;
  library_lags_ = false;
  set(offset);
  return offset_;
}

void FilePointer::move_to(MPI_Offset offset) {
  const std::lock_guard guard(mutex_);
  set(offset);
  library_lags_ = true;
}

void FilePointer::hand_over(MPI_File file) {
  const std::lock_guard guard(mutex_);
  if (offset_ && library_lags_) real().File_seek(file, *offset_, MPI_SEEK_SET);
  set(std::nullopt);
  library_lags_ = false;
}

void FilePointer::forget() {
  const std::lock_guard guard(mutex_);
  set(std::nullopt);
  library_lags_ = false;
}

}  // namespace haichi::mpi
