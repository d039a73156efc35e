// haichi measure: becomes the MPI program haichi-measure-<abi>. Without haichi underneath it,
// unless that is asked for: then it is started as `haichi run` starts any program.
#include <algorithm>

#include "launch/abi_program.h"
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {
namespace {

// Whether `--under` is among the words, which it is taken out of.
bool take_under(std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), "--under");
  if (found == words.end()) return false;
  words.erase(found);
  return true;
}

// With a launcher behind "--" the suite starts that, and this program anew behind it, which then
// needs all words.
bool starts_launches(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--") != words.end();
}

}  // namespace

int measure_command(Invocation invocation) {
  std::vector<std::string> all_words = invocation.words;
  const bool under = take_under(invocation.words);
  const auto path = abi_program("haichi-measure", invocation);
  if (!path) return refuse(exit_code_of(path.error()), path.error().text);
  if (starts_launches(all_words)) {
    all_words.insert(all_words.begin(), *path);
    return become(*path, std::move(all_words), invocation.environment);
  }
  invocation.words.insert(invocation.words.begin(), *path);
  if (under) {
    invocation.words.insert(invocation.words.begin(), "--");
    return run_command(std::move(invocation));
  }
  return become(*path, std::move(invocation.words), invocation.environment);
}

}  // namespace haichi::launch
