#include "measure/selection.h"

#include <errno.h>

#include <algorithm>

namespace haichi::measure {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool means(const std::string& word, const Measurement& measurement) {
  return word == measurement.name || word == measurement.group || has(measurement.functions, word);
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::vector<std::string> groups_of(std::span<const Measurement> catalogue) {
  std::vector<std::string> groups;
  for (const Measurement& each : catalogue)
    if (!has(groups, each.group)) groups.push_back(each.group);
  return groups;
}

Result<std::vector<Chosen>> select(std::span<const Measurement> catalogue,
                                   std::span<const std::string> words) {
  for (const std::string& word : words)
    if (std::none_of(catalogue.begin(), catalogue.end(),
                     [&](const Measurement& each) { return means(word, each); }))
      return fail(EINVAL,
                  "'{}' is no measurement, group or measured MPI function; groups are {}, and "
                  "--list prints all",
                  word, joined(groups_of(catalogue)));
  std::vector<Chosen> chosen;
  for (const Measurement& each : catalogue) {
    const bool wanted = words.empty() || std::any_of(words.begin(), words.end(),
                                                     [&](auto& word) { return means(word, each); });
    const bool named = std::find(words.begin(), words.end(), each.name) != words.end();
    if (wanted) chosen.push_back({&each, named});
  }
  return chosen;
}

}  // namespace haichi::measure
