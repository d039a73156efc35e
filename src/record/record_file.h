// A file that is written piece by piece and is there, under its name, only when it is whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace haichi::record {

/// Written under another name beside it, which nobody can know beforehand, and renamed at the end.
/// What is there already and is no regular file stays: a folder, a link, a FIFO.
class RecordFile {
 public:
  /// Begins. `path` is from the root or from where the process is.
  static Result<RecordFile> create(const std::string& path);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  /// Removes what is not finished.
  ~RecordFile();

  /// False from the first failure on; finish() says why.
  bool add(std::string_view text);
  Status finish();

 private:
  RecordFile(std::string path, int folder, std::string temporary, int fd);

  std::string path_, temporary_;
  int folder_, fd_;
  int64_t size_ = 0;
  Status status_;
};

}  // namespace haichi::record
