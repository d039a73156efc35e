// A file that is open on this node: what its processes have written and what is not yet at the
// servers, under one lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "gasfs/files/node_files.h"
#include "gasfs/plan/arrange.h"
#include "gasfs/plan/read_pattern.h"

namespace haichi::gasfs {

struct NodeFile {
  NodeFile(Inode number, uint64_t first_sub_buffer) : inode(number), sub_buffer(first_sub_buffer) {}

  const Inode inode;
  std::mutex mutex;
  std::condition_variable landed;  // something that was flying has arrived, or failed
  Layout layout;

  // Gather: the sub-buffer. A request's source is a position in `memory`.
  std::vector<Request> pending;
  std::vector<std::byte> memory;
  uint64_t sub_buffer;  // bytes of `memory` with which it is arranged and sent

  // Scatter: numbers of frames that are not answered yet.
  uint64_t issued = 0;
  std::set<uint64_t> flying;

  // What this node knows of the size, and whether the server of names has to be told.
  uint64_t size = 0;
  timespec modified = {};
  bool grown = false;
  // It was told while something was on its way: who is told so may read the old bytes yet, and has
  // to be told again that the file has changed.
  bool told_early = false;
  uint64_t version = 0;  // changes with each write and cut here, so that late answers are noticed

  // The first error of each kind of trouble since it was told of: errseq, as in the kernel.
  int error = 0;
  uint64_t errors = 0;

  /// Until then what others change of it waits (lease_clock_ns): of a file that is pinned.
  int64_t watched_until = 0;

  ReadPattern reads;  // of all processes of the node

  /// Open descriptions on this node; under the dispatcher's lock, not this one's.
  uint64_t handles = 0;
};

}  // namespace haichi::gasfs
