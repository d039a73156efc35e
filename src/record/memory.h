// Memory that a rank's record grows in, and that outlives the process where it can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace haichi::record {

/// A range of addresses of which parts are made usable when they are needed. They are parts of a
/// file, in which what is written stays when the process is killed; its space on the disk is taken
/// first, as a page that finds no space would end the program by SIGBUS. What the file cannot take
/// is plain memory. Not thread-safe; errors are told by values.
class Memory {
 public:
  /// No file: lost with the process.
  explicit Memory(size_t most);
  /// `fd` is an empty regular file, which this owns; -1 is none. A program that closes descriptors
  /// that it has not opened may have another file under the number: that one is left alone.
  Memory(size_t most, int fd);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Makes [begin, begin + size) usable, with what lies around it; what is new reads as zeros.
  /// False if there is no memory for all of it. What was usable stays as it is.
  bool make_usable(size_t begin, size_t size);

  /// Null if the system gave no addresses.
  std::byte* data() const { return data_; }
  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(data_ + offset);
  }
  /// Whether all that is usable is in the file.
  bool in_file() const { return fd_ >= 0 && why_not_.empty(); }
  /// Why something is not, in words; empty if all is, or if there is no file.
  const std::string& why_not() const { return why_not_; }

 private:
  static constexpr size_t kPiece = 65536;  // no page is larger

  bool add_piece(size_t piece);
  bool is_ours() const;
  bool from_file(size_t begin);

  const size_t pieces_;
  std::byte* data_ = nullptr;
  const int fd_;
  uint64_t device_ = 0, inode_ = 0;  // of the file
  std::string why_not_;
  std::vector<bool> usable_;  // of each piece
};

}  // namespace haichi::record
