// The individual file pointer of a handle. ROMIO walks through the pieces of the view to tell it
// and to move it, which takes longer than a small access: so haichi remembers where it has left
// the pointer, and tells the library only before the library needs it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <optional>

namespace haichi::mpi {

/// Offsets in etypes of the view. Any thread may call anything.
class FilePointer {
 public:
  FilePointer() = default;
  ~FilePointer() { forget(); }
  FilePointer(const FilePointer&) = delete;
  FilePointer& operator=(const FilePointer&) = delete;

  /// False if none of all handles' pointers is known here: then there is nothing to hand over.
  static bool any_known() { return known_pointers_.load(std::memory_order_relaxed) > 0; }

  /// As far as it is known here.
  std::optional<MPI_Offset> known() const;
  /// The library is asked if need be. Nothing if it does not tell.
  std::optional<MPI_Offset> position(MPI_File file);
  void move_to(MPI_Offset offset);
  /// Before a call of the library's that uses and moves the pointer.
  void hand_over(MPI_File file);
  /// The library has just been told another one.
  void forget();

 private:
  void set(std::optional<MPI_Offset> offset);  // with the mutex held

  static std::atomic<int> known_pointers_;
  mutable std::mutex mutex_;
  std::optional<MPI_Offset> offset_;
  bool library_lags_ = false;
};

}  // namespace haichi::mpi
