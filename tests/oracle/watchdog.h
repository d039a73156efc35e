// Where a test program is, so that one that hangs names itself. Several threads may tell.
#pragma once

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>

namespace oracle {

inline std::atomic<char> g_where[160];

/// "case 3 of seed 1, open": what the watchdog says when an alarm() is over.
inline void tell_watchdog(const char* where) {
  size_t i = 0;
  for (; where[i] && i < sizeof g_where - 1; ++i)
    g_where[i].store(where[i], std::memory_order_relaxed);
  g_where[i].store('\0', std::memory_order_relaxed);
}

/// Ends the program with exit code 3. Only async-signal-safe calls.
inline void on_alarm(int) {
  char text[200] = "oracle: no end of ";
  size_t length = 0;
  while (text[length]) ++length;
  for (const auto& letter : g_where) {
    const char each = letter.load(std::memory_order_relaxed);
    if (!each) break;
    text[length++] = each;
  }
  text[length++] = '\n';
  if (write(2, text, length) < 0) _exit(4);
  _exit(3);
}

inline void start_watchdog() {
  tell_watchdog("start");
  std::signal(SIGALRM, on_alarm);
}

}  // namespace oracle
