#include "measure/run/launches.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "measure/across_launches.h"
#include "measure/samples_file.h"
#include "measure/table.h"

extern char** environ;

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr int kNotFound = 127;  // of shells, as everywhere in haichi

volatile sig_atomic_t stopped_by = 0;
volatile pid_t under_way = 0;

// The launcher ends its ranks; this program tells what there is before it ends.
void stop(int signal) {
  stopped_by = signal;
  if (under_way > 0) kill(under_way, signal);
}

// The words of one launch: without what all have in common, which this program sees to.
std::vector<std::string> without_common(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view name = word.substr(0, word.find('='));
    if (name == "--launches" || name == "--out" || name == "--budget") {
      i += name == word;  // its value is the next word
      continue;
    }
    if (name != "--resume") kept.push_back(words[i]);
  }
  return kept;
}

std::string own_haichi() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  const std::string_view all(path, n > 0 ? size_t(n) : 0);
  return std::string(all.substr(0, all.rfind('/') + 1)) + "haichi";
}

// Runs the words to their end; an exit code as shells have it.
int run_to_end(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed != 0) {
    log(LogLevel::error, "{} can't be started: {}", words[0], strerror(failed));
    return kNotFound;
  }
  under_way = child;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  under_way = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void heed_signals() {
  struct sigaction action = {};
  action.sa_handler = stop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void say_which(int number, int launches, double elapsed) {
  const std::string left =
      number > 1 ? fmt::format(", about {} left",
                               duration(elapsed / (number - 1) * (launches - number + 1)))
                 : "";
  fmt::print(stderr, "haichi measure: launch {} of {}{}\n", number, launches, left);
}

// Whether every other launch would end in the same way, before it measures anything.
bool says_all(int code) { return code == kUsage || code == kCantWrite || code == kNotFound; }

}  // namespace

int run_launches(const Options& options, const std::vector<std::string>& words,
                 const std::vector<std::string>& launcher) {
  const std::string path = options.out.empty() ? new_samples_name() : options.out;
  if (!options.resume) {
    if (const auto created = SamplesFile::create(path); !created) {
      log(LogLevel::error, "{}", created.error().text);
      return kCantWrite;
    }
  }
  heed_signals();
  int code = 0;
  const int64_t start = now_ns();
  for (int number = 1; number <= options.launches && stopped_by == 0; ++number) {
    say_which(number, options.launches, double(now_ns() - start) * kNano);
    std::vector<std::string> line = launcher;
    line.insert(line.end(), {own_haichi(), "measure"});
    const auto kept = without_common(words);
    line.insert(line.end(), kept.begin(), kept.end());
    line.insert(line.end(), {"--out", path, "--resume", "--repetition", std::to_string(number)});
    if (options.budget > 0)
      line.insert(line.end(), {"--budget", fmt::format("{}", options.budget / options.launches)});
    const int ended = run_to_end(std::move(line));
    if (says_all(ended)) return ended;
    if (ended > kIncomplete)
      log(LogLevel::warn, "launch {} of {} ended with exit code {}; what it measured is kept",
          number, options.launches, ended);
    if (ended != 0) code = kIncomplete;
  }
  if (code != 0 || stopped_by != 0)
    log(LogLevel::warn, "not all is measured: --resume --out {} goes on", path);
  const auto text = read_file(path);
  if (text) fputs(table_across_launches(*text).c_str(), stdout);
  return stopped_by != 0 ? 128 + stopped_by : code;
}

}  // namespace haichi::measure
