#include "gasfs/arena/stamp.h"

#include "base/os.h"

namespace haichi::gasfs::arena {

bool processor_clock_trusted() {
#if defined(__x86_64__)
  const auto source =
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64);
  return source && *source == "tsc\n";
#else
  return false;
#endif
}

}  // namespace haichi::gasfs::arena
