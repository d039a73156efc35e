// haichi measure: becomes the MPI program haichi-measure-<abi>, or with --numa, which is no job's,
// haichi-numaio.
#include <algorithm>

#include "launch/abi_program.h"
#include "launch/commands.h"
#include "launch/exec.h"

namespace haichi::launch {
namespace {

// With a launcher behind "--" the suite starts that, and this program anew behind it, which then
// needs all words.
bool starts_launches(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--") != words.end();
}

}  // namespace

int measure_command(Invocation invocation) {
  constexpr std::string_view kName = "haichi-measure";
  const auto own_end = std::find(invocation.words.begin(), invocation.words.end(), "--");
  const auto numa = std::find(invocation.words.begin(), own_end, "--numa");
  if (numa != own_end) {
    invocation.words.erase(numa);
    return numaio_command("measure", std::move(invocation));
  }
  if (!starts_launches(invocation.words)) return become_abi_program(kName, std::move(invocation));
  std::vector<std::string> all_words = invocation.words;
  const auto path = abi_program(kName, invocation);
  if (!path) return refuse(exit_code_of(path.error()), path.error().text);
  all_words.insert(all_words.begin(), *path);
  return become(*path, std::move(all_words), invocation.environment);
}

}  // namespace haichi::launch
