#include "measure/run/watch.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

namespace haichi::measure {
namespace {

int patience = 60;
char message[256];

// Whoever is stuck in an MPI call can't be asked to return; the launcher ends the other ranks.
void give_up(int) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, message, strlen(message));
  _exit(1);
}

}  // namespace

void set_watch_seconds(int seconds) { patience = seconds; }

void keep_watch(const std::string& name) {
  const std::string text = "haichi measure: error: " + name + " made no progress for " +
                           std::to_string(patience) +
                           " s (--patience); what was measured before is kept\n";
  strncpy(message, text.c_str(), sizeof message - 1);
  signal(SIGALRM, give_up);
  alarm(unsigned(patience));
}

void end_watch() { alarm(0); }

}  // namespace haichi::measure
