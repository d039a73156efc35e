// A time of day as files of haichi have it.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace haichi {

/// Seconds since 1970 as ISO 8601 has them, in UTC: 2024-02-29T12:00:00Z.
inline std::string utc_text(int64_t seconds) {
  const time_t t = seconds;
  tm parts;
  gmtime_r(&t, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace haichi
