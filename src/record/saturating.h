// Numbers of calls, of which a program of nested loops may make more than 2^64.
#pragma once

#include <cstdint>

namespace haichi::record {

/// Stand for themselves and for all that is more.
inline constexpr uint64_t kMostCalls = UINT64_MAX;

constexpr uint64_t times(uint64_t a, uint64_t b) {
  return b != 0 && a > kMostCalls / b ? kMostCalls : a * b;
}
constexpr uint64_t plus(uint64_t a, uint64_t b) { return a > kMostCalls - b ? kMostCalls : a + b; }

}  // namespace haichi::record
