#include "measure/case/cold.h"

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace haichi::measure {
namespace {

constexpr size_t kLine =
    64;  // of x86 and of Arm's server cores; smaller steps than a line do no harm

}  // namespace

#if defined(__x86_64__)

bool can_cool() { return true; }

void take_out_of_caches(const char* begin, size_t size) {
  for (size_t i = 0; i < size; i += kLine) _mm_clflush(begin + i);
  _mm_mfence();
}

#elif defined(__aarch64__)

bool can_cool() { return true; }

void take_out_of_caches(const char* begin, size_t size) {
  for (size_t i = 0; i < size; i += kLine)
    asm volatile("dc civac, %0" : : "r"(begin + i) : "memory");
  asm volatile("dsb ish" : : : "memory");
}

#else

bool can_cool() { return false; }

void take_out_of_caches(const char*, size_t) {}

#endif

}  // namespace haichi::measure
