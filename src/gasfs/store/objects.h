// The bytes of files on one server: one object per file, a sparse file that has the stripes of this
// server at the file's own offsets, so that a store with one server can be read with any tool.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "gasfs/files/node_files.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

/// Thread-safe. Objects are found by number beneath one folder, which no link leads out of.
class Objects {
 public:
  /// Makes the folder if it is not there.
  static Result<std::unique_ptr<Objects>> open(const std::string& folder);

  /// Writes all extents, in order. An object that is not there is made. After an error (errno) part
  /// of them may have been written.
  Done write(Inode inode, std::span<const Extent> extents, std::span<const std::byte> payload);
  /// Writes what lies in these places as one run from `offset` on.
  Done write_run(Inode inode, uint64_t offset, std::vector<iovec> pieces);
  /// How often the kernel was asked to write.
  uint64_t writes() const { return writes_; }
  /// Reads all extents; zeros where nothing was written.
  Done read(Inode inode, std::span<const Extent> extents, std::span<std::byte> into);
  /// Drops what is behind `size`. An object that is not there is no error, here and below.
  Done cut(Inode inode, uint64_t size);
  Done remove(Inode inode);
  /// To the disk.
  Done sync(Inode inode);
  Outcome<Space> space() const;
  /// Gives the number of each object until one is refused.
  Status each(const std::function<bool(Inode, uint64_t size)>& take) const;

 private:
  using Shared = std::shared_ptr<Descriptor>;
  explicit Objects(Descriptor root) : root_(std::move(root)) {}
  /// ENOENT if it is not there and `make` is not set.
  Outcome<Shared> find(Inode inode, bool make);
  void forget(Inode inode);

  const Descriptor root_;
  std::atomic<uint64_t> writes_{0};
  std::mutex mutex_;
  // Descriptors that are kept open, the last used in front.
  std::list<std::pair<Inode, Shared>> kept_;
  std::unordered_map<Inode, std::list<std::pair<Inode, Shared>>::iterator> where_;
};

}  // namespace haichi::gasfs
