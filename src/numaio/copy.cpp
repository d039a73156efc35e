#include "numaio/copy.h"

#include <string.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace haichi::numaio {
namespace {

void by_memcpy(std::byte* to, const std::byte* from, size_t bytes) { memcpy(to, from, bytes); }

#if defined(__x86_64__)
void by_rep_movsb(std::byte* to, const std::byte* from, size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// Bytes up to the next multiple of `line` are copied by memcpy(); returns how many.
size_t copy_head(std::byte* to, const std::byte* from, size_t bytes, size_t line) {
  const size_t head = std::min((line - reinterpret_cast<uintptr_t>(to) % line) % line, bytes);
  memcpy(to, from, head);
  return head;
}

// Four registers at a time, by name: an array of them is kept in memory, which doubles what is
// moved.
[[gnu::target("avx2")]] void by_streams_of_32(std::byte* to, const std::byte* from, size_t bytes) {
  size_t at = copy_head(to, from, bytes, 32);
  for (; at + 128 <= bytes; at += 128) {
    const auto* const source = reinterpret_cast<const __m256i*>(from + at);
    auto* const target = reinterpret_cast<__m256i*>(to + at);
    const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1),
                  c = _mm256_loadu_si256(source + 2), d = _mm256_loadu_si256(source + 3);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
    _mm256_stream_si256(target + 2, c);
    _mm256_stream_si256(target + 3, d);
  }
  _mm_sfence();
  memcpy(to + at, from + at, bytes - at);
}

[[gnu::target("avx512f")]] void by_streams_of_64(std::byte* to, const std::byte* from,
                                                 size_t bytes) {
  size_t at = copy_head(to, from, bytes, 64);
  for (; at + 256 <= bytes; at += 256) {
    const auto* const source = reinterpret_cast<const __m512i*>(from + at);
    auto* const target = reinterpret_cast<__m512i*>(to + at);
    const __m512i a = _mm512_loadu_si512(source), b = _mm512_loadu_si512(source + 1),
                  c = _mm512_loadu_si512(source + 2), d = _mm512_loadu_si512(source + 3);
    _mm512_stream_si512(target, a);
    _mm512_stream_si512(target + 1, b);
    _mm512_stream_si512(target + 2, c);
    _mm512_stream_si512(target + 3, d);
  }
  _mm_sfence();
  memcpy(to + at, from + at, bytes - at);
}
#endif

std::vector<CopyKernel> known_kernels() {
  std::vector<CopyKernel> known = {{"memcpy", by_memcpy}};
#if defined(__x86_64__)
  __builtin_cpu_init();
  known.push_back({"rep movsb", by_rep_movsb});
  if (__builtin_cpu_supports("avx2")) known.push_back({"streams of 32 bytes", by_streams_of_32});
  if (__builtin_cpu_supports("avx512f")) known.push_back({"streams of 64 bytes", by_streams_of_64});
#endif
  return known;
}

const CopyKernel& measure_kernels() {
  constexpr size_t kBytes = 4 << 20;  // of each side: more than a core's own caches
  constexpr int kRounds = 2;          // the first one touches the memory
  const auto memory = std::make_unique<std::byte[]>(2 * kBytes);
  const CopyKernel* best = &copy_kernels().front();
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int round = 0; round < kRounds; ++round)
    for (const CopyKernel& each : copy_kernels()) {
      const int64_t begin = now_ns();
      each.copy(memory.get(), memory.get() + kBytes, kBytes);
      const int64_t taken = now_ns() - begin;
      if (round > 0 && taken < least) {
        least = taken;
        best = &each;
      }
    }
  return *best;
}

}  // namespace

std::span<const CopyKernel> copy_kernels() {
  static const std::vector<CopyKernel> known = known_kernels();
  return known;
}

const CopyKernel& fastest_kernel() {
  static const CopyKernel& fastest = measure_kernels();
  return fastest;
}

}  // namespace haichi::numaio
