// An event of a sequence as a recorder hands it over.
#pragma once

#include <cstdint>
#include <span>

namespace haichi::record {

/// What an event is but for the slots that it completes. What the numbers mean is said at Event.
struct EventNumbers {
  int call = 0;  ///< the recorder's own number of the function
  int comm = -1, peer = -1, tag = 0, root = -1, request = -1, from = -1, from_tag = 0;
  int file = -1, window = -1;
  int64_t bytes = -1, from_bytes = -1, received = -1;

  bool operator==(const EventNumbers&) const = default;
};

/// An event as a recorder has it: numbers only, so that handing it over asks for no memory.
struct EventKey : EventNumbers {
  std::span<const int> completes;
};

}  // namespace haichi::record
