// Requests from the call that begins them to the one that completes them.
#pragma once

#include <cstdint>

#include "record/key.h"
#include "record/lazy_array.h"

namespace haichi::record {

/// The call that began a request.
struct Begun {
  int64_t bytes = Key::kNoBytes;
  int32_t peer = -1;  ///< world rank, -1: none
  uint16_t function = Key::kNone;
  uint16_t comm = Key::kNone;
  uint16_t file = Key::kNone;
  uint16_t slot = 0;  ///< smallest number that no other request had
  Shape type = Shape::none;
  Place place = Place::none;
  bool persistent = false;
  bool active = true;      ///< persistent ones are from a start to their completion
  bool sends = false;      ///< a message, to `peer`
  bool one_sided = false;  ///< or an access of its memory
};

/// Handles as numbers. MPI libraries give the same handle to several requests that are complete
/// when they begin, so there may be several of one; the oldest is taken first. Bounded. Not
/// thread-safe.
class Requests {
 public:
  /// Throws std::bad_alloc if there is no memory for the tables.
  Requests();

  /// False if there is no room; the request is then not followed. Sets `begun.slot`.
  bool add(uint64_t handle, Begun& begun);
  /// The oldest of that handle, or null. Until the next add() or take().
  const Begun* find(uint64_t handle) const;
  /// The same, active from now on.
  const Begun* start(uint64_t handle);
  /// Of that handle and active, which it is no more: forgotten unless it is persistent. False if
  /// there is none.
  bool complete(uint64_t handle, Begun& begun);
  /// MPI_Request_free.
  void forget(uint64_t handle);

 private:
  static constexpr uint32_t kMost = 65'536, kNone = 0xffffffff;
  struct Node {
    uint64_t handle;
    uint32_t next;  // of the chain, or of the free ones
    Begun begun;
  };

  static uint32_t chain_of(uint64_t handle);
  uint32_t* link_to(uint64_t handle);
  void remove(uint32_t* link);
  uint16_t take_slot();

  LazyArray<Node> nodes_;
  LazyArray<uint32_t> chains_;    // first node + 1; 0: none
  LazyArray<uint64_t> slots_;     // a bit for each that is taken
  uint32_t first_word_ = 0;       // of slots_ that may have a free one
  uint32_t free_ = 0, made_ = 0;  // free_: first free node + 1
};

}  // namespace haichi::record
