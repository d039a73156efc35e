#include "collectives/cost.h"

#include <numeric>

namespace haichi::collectives {

std::string_view name_of(Term term) {
  static constexpr std::string_view kNames[kTerms] = {"latency", "messages", "copies",
                                                      "ports",   "links",    "barriers"};
  return kNames[size_t(term)];
}

double Terms::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

}  // namespace haichi::collectives
