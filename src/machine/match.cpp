#include "machine/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace haichi::machine {
namespace {

// Its name without digits: what the nodes of a cluster have in common.
std::string stem(const std::string& name) {
  std::string text;
  std::copy_if(name.begin(), name.end(), std::back_inserter(text),
               [](unsigned char c) { return std::isdigit(c) == 0; });
  return text;
}

class Comparison {
 public:
  template <class Value>
  void compare(const char* what, bool known, const Value& theirs, const Value& ours) {
    if (!known) return;
    if (theirs == ours)
      ++match.agreements;
    else
      differs(fmt::format("{} “{}”, here “{}”", what, theirs, ours));
  }

  void compare_nodes(const std::vector<std::string>& theirs, const std::vector<std::string>& ours) {
    if (theirs.empty() || ours.empty()) return;
    const std::set<std::string> names(theirs.begin(), theirs.end());
    std::set<std::string> stems;
    for (const std::string& name : theirs) stems.insert(stem(name));
    all_measured = true;
    for (const std::string& name : ours) {
      if (names.contains(name)) continue;
      all_measured = false;
      if (!stems.contains(stem(name)))
        return differs(fmt::format("node “{}”, here “{}”", theirs.front(), name));
    }
    match.agreements += all_measured ? 2 : 1;
  }

  void differs(std::string how) {
    if (match.difference.empty()) match.difference = std::move(how);
  }

  Match match;
  bool all_measured = false;
};

}  // namespace

Match match(const Signature& profile, const Signature& here) {
  Comparison sides;
  const bool library = !profile.library.empty() && !here.library.empty();
  const bool processor = !profile.processor.empty() && !here.processor.empty();
  const bool cores = profile.cores > 0 && here.cores > 0;
  sides.compare("MPI library", library, profile.library, here.library);
  sides.compare("processor", processor, profile.processor, here.processor);
  sides.compare("cores of a node", cores, profile.cores, here.cores);
  sides.compare_nodes(profile.node_names, here.node_names);
  if (profile.network && here.network) {
    if (*here.network && !*profile.network)
      sides.differs("messages between nodes were not measured, and the job has several");
    else if (*profile.network == *here.network)
      ++sides.match.agreements;
  }
  Match& match = sides.match;
  match.telling = library && (processor || !profile.node_names.empty());
  match.exact = match.fits() && library && processor && cores && sides.all_measured;
  return std::move(sides.match);
}

}  // namespace haichi::machine
