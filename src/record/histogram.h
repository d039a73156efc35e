// The buckets that the times of a record are counted in: four to a factor of two.
#pragma once

#include <bit>
#include <cstdint>

namespace haichi::record {

/// Up to 2^40 ns, which is 18 minutes; what takes longer is in the last one.
inline constexpr int kBuckets = 161;

/// floor(4 log2(ns)); 0 up to 1 ns.
constexpr int bucket_of(int64_t ns) {
  if (ns <= 1) return 0;
  const int octave = 63 - std::countl_zero(uint64_t(ns));
  const uint64_t mantissa = uint64_t(ns) << (63 - octave);  // the highest bit is set
  // 2^63 times the fourth, second and 4/3rd roots of two.
  constexpr uint64_t kQuarters[] = {0x9837f0518db8a96fu, 0xb504f333f9de6484u, 0xd744fccad69d6af4u};
  int bucket = 4 * octave;
  for (const uint64_t quarter : kQuarters) bucket += mantissa >= quarter;
  return bucket < kBuckets ? bucket : kBuckets - 1;
}

}  // namespace haichi::record
