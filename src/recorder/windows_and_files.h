// What the recorder knows of windows, files and messages that a probe has taken out: the
// communicator of each.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

#include "recorder/communicators.h"
#include "recorder/handle.h"

namespace haichi::recorder {

/// What is kept for each handle, until it is freed. Not thread-safe.
template <class Handle, class Facts>
class Known {
 public:
  /// Not kept if there is no memory.
  void add(Handle handle, Facts facts) { all_[bits(handle)] = std::move(facts); }
  /// Null if it is not known.
  Facts* of(Handle handle) {
    const auto found = all_.find(bits(handle));
    return found == all_.end() ? nullptr : &found->second;
  }
  /// Before it is freed.
  void forget(Handle handle) { all_.erase(bits(handle)); }

 private:
  std::unordered_map<uint64_t, Facts> all_;
};

struct Window {
  std::shared_ptr<const Communicator> comm;
  int number = -1;  ///< smallest that no other window had
};

/// A message of MPI_Mprobe, until it is received.
struct ProbedMessage {
  std::shared_ptr<const Communicator> comm;
  int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
};

struct File {
  std::shared_ptr<const Communicator> comm;
  uint16_t number = record::Key::kNone;
  record::Shape view = record::Shape::contiguous;
};

}  // namespace haichi::recorder
