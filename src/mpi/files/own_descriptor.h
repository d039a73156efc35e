// haichi's own descriptor of a file that the program has opened through MPI.
//
// It is opened when haichi first needs it. A program whose accesses are all the MPI library's pays
// for a look at the file's name, and no descriptor of its own is taken.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "mpi/files/descriptors.h"

namespace haichi::mpi {

/// Thread-safe, but for close().
class OwnDescriptor {
 public:
  /// Right after the library has opened the file with `amode`: later the path may be another
  /// file's.
  OwnDescriptor(std::string path, int amode);
  ~OwnDescriptor() { (void)close(); }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  /// Negative if there is none: see refusal().
  int get();
  /// Whether the file can be read through it; true unless it is open.
  bool readable() const { return readable_; }
  /// Why get() is negative, or empty.
  std::string refusal();
  /// Before bytes of the program's are written through it.
  void note_written() { written_ = true; }
  /// An error is the system's answer to bytes that were written: a full quota, or a server that did
  /// not take them, may be told only now.
  Status close();

 private:
  // With the mutex held.
  void open();
  Result<int> open_name(const std::string& name);
  bool is_file(int fd) const;
  std::string name_by_descriptor() const;

  const std::string path_;
  const int amode_;
  uint64_t device_ = 0, inode_ = 0;  // both 0: not known
  std::mutex mutex_;
  std::atomic<bool> tried_ = false;
  std::atomic<int> fd_ = -1;
  std::atomic<bool> readable_ = true, written_ = false;
  std::string refusal_;
  std::optional<DescriptorShare> share_;
};

}  // namespace haichi::mpi
