#include "measure/case/watch.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

namespace haichi::measure {
namespace {

int patience = 60;
char message[512];
std::string watched;

// What a signal handler may print is made before.
void set_message(const std::string& what) {
  const std::string text = "haichi measure: error: " + what + " for " + std::to_string(patience) +
                           " s (--patience); what was measured before is kept\n";
  strncpy(message, text.c_str(), sizeof message - 1);
}

// Whoever is stuck in an MPI call can't be asked to return; the launcher ends the other ranks.
void give_up(int) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, message, strlen(message));
  _exit(1);
}

}  // namespace

void set_watch_seconds(int seconds) { patience = seconds; }

void keep_watch(const std::string& name) {
  watched = name;
  set_message(watched + " made no progress");
  signal(SIGALRM, give_up);
  alarm(unsigned(patience));
}

void end_watch() { alarm(0); }

void tell_in_watch(const std::string& problem) {
  set_message(watched + " failed on a rank (" + problem + "), and others waited for it");
  // Before the others, whose end is this one's too.
  const unsigned left = alarm(0);
  alarm(left > 1 ? left - 1 : left);
}

}  // namespace haichi::measure
