// Messages and bytes that a rank has sent to each other one.
#pragma once

#include "record/memory.h"
#include "record/part.h"

namespace haichi::record {

enum class Way : uint8_t { message, one_sided };

/// A bounded number of peers; `head.traffic_full` says if there were more. Not thread-safe.
class Traffic {
 public:
  /// Both outlive it.
  Traffic(Memory& memory, Head& head) : memory_(memory), head_(head) {}
  void add(int peer, Way way, int64_t bytes);

 private:
  Memory& memory_;
  Head& head_;
  bool usable_ = false;
};

}  // namespace haichi::record
