// What calls are counted by: two calls with the same key are one line of a record.
#pragma once

#include <cstdint>
#include <cstring>

namespace haichi::record {

/// How the bytes of a datatype, or of a file view, lie in memory.
enum class Shape : uint8_t { none, contiguous, regular, irregular };
/// Where the peer of a call is, seen from the rank that calls.
enum class Place : uint8_t { none, self, core, numa, node, network };

/// As files have them; null for `none`.
const char* name_of(Shape shape);
const char* name_of(Place place);

/// Numbers in place of names, so that a key is compared as plain memory. What does not apply, or is
/// not known, has the default.
struct Key {
  static constexpr uint16_t kNone = 0xffff;
  static constexpr uint16_t kMixed = 0xfffe;  ///< `began`: calls of several functions
  static constexpr int64_t kNoBytes = -1;

  int64_t bytes = kNoBytes;
  uint64_t site = 0;          ///< return address
  uint16_t function = kNone;  ///< of the definitions (definitions.h), as are the next three
  uint16_t began = kNone;     ///< of a call that completes others: the function that began them
  uint16_t comm = kNone;
  uint16_t file = kNone;
  Shape type = Shape::none;
  Shape view = Shape::none;
  Place place = Place::none;
  bool first_use = false;  ///< of the buffer
  uint32_t unused = 0;     // no byte of a key is undefined

  friend bool operator==(const Key& a, const Key& b) { return memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(sizeof(Key) == 32);

}  // namespace haichi::record
