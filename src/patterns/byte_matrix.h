// How many bytes each rank has for each, as text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi::patterns {

/// A square matrix: line r is what rank r sends, its c-th number what rank c receives of that.
class ByteMatrix {
 public:
  /// Reads lines of whole numbers, apart by commas, semicolons or blanks. Empty lines, and what
  /// follows a # in a line, are left out. Fails with EINVAL, naming the line, unless there are
  /// `ranks` lines of `ranks` numbers from 0.
  static Result<ByteMatrix> parse(std::string_view text, int ranks);

  int64_t bytes(int from, int to) const { return bytes_[size_t(from) * ranks_ + size_t(to)]; }

 private:
  size_t ranks_ = 0;
  std::vector<int64_t> bytes_;
};

}  // namespace haichi::patterns
