// Sizes rounded up.
#pragma once

#include <cstdint>

namespace haichi {

// Of memory and of a file in the page cache, in bytes.
inline constexpr int64_t kPage = 4096;

/// n / d rounded up; no overflow for n >= 0, d >= 1.
constexpr int64_t divide_up(int64_t n, int64_t d) { return n / d + (n % d != 0); }

/// `bytes` rounded up to whole pages; 0 <= bytes <= INT64_MAX - kPage.
constexpr int64_t whole_pages(int64_t bytes) { return divide_up(bytes, kPage) * kPage; }

}  // namespace haichi
