// What haichi reads from an ELF file: enough to see, without starting anything, which MPI library
// the dynamic loader would give a program. (System V ABI, chapters 4 and 5; elf(5).)
//
// Damaged files are refused, never trusted: every offset is checked against the file's size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi::launch {

/// An ELF file mapped into memory. The views it hands out live as long as it does.
class ElfFile {
 public:
  /// Fails with the errno of open(2), or with ENOEXEC for what is no ELF file, is damaged, or was
  /// built for another kind of processor than this program; the text says which.
  static Result<ElfFile> open(const std::string& path);

  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  /// Names that the file asks the loader for (DT_NEEDED), in its order.
  const std::vector<std::string_view>& needed() const { return needed_; }
  std::string_view soname() const { return soname_; }
  std::string_view rpath() const { return rpath_; }
  std::string_view runpath() const { return runpath_; }
  /// False for a statically linked program: the loader, and so LD_PRELOAD, never sees it.
  bool has_interpreter() const { return has_interpreter_; }

  /// Whether the file itself has code or data called `symbol`, exported or not. Looks at every
  /// symbol: for error messages and single checks, not for loops.
  bool defines(std::string_view symbol) const;

 private:
  ElfFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  Status parse(const std::string& path);
  Status parse_dynamic(const std::string& path, size_t offset, size_t size);
  template <class T>
  const T* at(size_t offset, size_t count = 1) const;
  std::string_view string_at(size_t table, size_t table_size, size_t index) const;
  size_t file_offset(size_t address) const;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::vector<std::string_view> needed_;
  std::string_view soname_, rpath_, runpath_;
  bool has_interpreter_ = false;
};

}  // namespace haichi::launch
