#include "record/key.h"

namespace haichi::record {

const char* name_of(Shape shape) {
  constexpr const char* kNames[] = {nullptr, "contiguous", "regular", "irregular"};
  return size_t(shape) < 4 ? kNames[size_t(shape)] : nullptr;
}

const char* name_of(Place place) {
  constexpr const char* kNames[] = {nullptr, "self", "core", "numa", "node", "network"};
  return size_t(place) < 6 ? kNames[size_t(place)] : nullptr;
}

}  // namespace haichi::record
