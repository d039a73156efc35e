#include "replay/run/watch.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>

namespace haichi::replay {
namespace {

volatile uint64_t steps = 0, steps_before = 0;
const char* volatile what_is_done = "the beginning";

void say(const char* text) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, strlen(text));
}

// Whoever is stuck in an MPI call can't be asked to return; the launcher ends the other ranks.
void look(int) {
  if (steps != steps_before) {
    steps_before = steps;
    return;
  }
  say("haichi replay: error: no progress for long (--patience) in ");
  say(what_is_done);
  say("; the order in which messages came may not be what was recorded\n");
  _exit(1);
}

void set_timer(int seconds) {
  const itimerval every{{seconds, 0}, {seconds, 0}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

}  // namespace

void begin_watch(int patience) {
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  set_timer(patience);
}

void end_watch() { set_timer(0); }

void progress(const char* what) {
  what_is_done = what;
  steps = steps + 1;
}

const char* doing() { return what_is_done; }

}  // namespace haichi::replay
