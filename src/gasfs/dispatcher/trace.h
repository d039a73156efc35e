// What a node was asked to write and what it asked of the servers, one behind the other in a file,
// for the picture that `haichi gasfs picture` draws.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "gasfs/files/node_files.h"

namespace haichi::gasfs {

/// A line of the file, behind its head. python/haichi/gasfs/trace.py reads it.
struct TraceRecord {
  int64_t time_ns = 0;  // CLOCK_REALTIME
  uint64_t inode = 0;
  uint64_t offset = 0;
  uint32_t length = 0;
  /// 0: a request of a program. Otherwise a run that was sent, and in which go of the node: what is
  /// of other goes could not be merged with it.
  uint32_t go = 0;
};
static_assert(sizeof(TraceRecord) == 32);
/// The head is this, and the version of haichi to the end of the line.
inline constexpr char kTraceHead[] = "haichi.gasfs-trace/1 ";

/// Thread-safe. Stops at a bound, and where the disk takes no more: what is there is right.
class Trace {
 public:
  /// `most`: records.
  static Result<std::unique_ptr<Trace>> open(const std::string& path, uint64_t most);

  void request(Inode inode, uint64_t offset, uint64_t length) { note(inode, offset, length, 0); }
  void sent(Inode inode, uint64_t offset, uint64_t length, uint32_t go) {
    note(inode, offset, length, go);
  }
  uint32_t next_go();
  /// All is in the file.
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Stream = std::unique_ptr<std::FILE, Close>;
  Trace(Stream file, uint64_t most) : file_(std::move(file)), left_(most) {}
  void note(Inode inode, uint64_t offset, uint64_t length, uint32_t go);

  std::mutex mutex_;
  const Stream file_;
  uint64_t left_;
  uint32_t last_go_ = 0;
};

}  // namespace haichi::gasfs
