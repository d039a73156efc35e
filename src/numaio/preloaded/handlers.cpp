#include "numaio/preloaded/handlers.h"

#include <pthread.h>
#include <stdint.h>

#include <atomic>

#include "generated/libc_real.h"

namespace haichi::numaio::preloaded {
namespace {

constinit std::atomic<uint64_t> handled{0};  // bits: signals that have had a handler
constinit std::atomic<uint64_t> once{0};     // bits: those whose handler is gone once it runs
constinit std::atomic<bool> unseen{false};   // a handler may run that nobody can tell is running
constexpr int kSignals = 64;

/// Calls `holds` with the number of each signal of a set of bits until that says yes.
template <class Holds>
bool any_of(uint64_t signals, const Holds& holds) {
  for (; signals != 0; signals &= signals - 1)
    if (holds(__builtin_ctzll(signals) + 1)) return true;
  return false;
}

}  // namespace

bool may_be_handler() {
  if (unseen.load(std::memory_order_relaxed)) return true;
  const uint64_t blocking = handled.load(std::memory_order_relaxed);
  const uint64_t leaving = once.load(std::memory_order_relaxed);
  sigset_t blocked;
  if (blocking != 0 && pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0) return true;
  return any_of(blocking, [&](int number) { return sigismember(&blocked, number) != 0; }) ||
         any_of(leaving, [](int number) {
           struct sigaction now;
           return libc::real().sigaction(number, nullptr, &now) != 0 || !is_handler(now.sa_handler);
         });
}

bool may_be_handled(int number) {
  const uint64_t both = handled.load(std::memory_order_relaxed) | once.load();
  return (both >> (number - 1) & 1) != 0;
}

void note_handler(int number) {
  if (number >= 1 && number <= kSignals) handled.fetch_or(uint64_t{1} << (number - 1));
}

void note_unblocked_handler(int number, bool leaves) {
  if (number < 1 || number > kSignals) return;
  const uint64_t bit = uint64_t{1} << (number - 1);
  // What is set a second time may have been set by the handler itself.
  if (!leaves || (once.fetch_or(bit) & bit) != 0) unseen.store(true);
}

}  // namespace haichi::numaio::preloaded
