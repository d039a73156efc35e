#include "patterns/pattern.h"

#include <algorithm>

namespace haichi::patterns {
namespace {

constexpr std::string_view kAllToAll[] = {"order", "bytes", "window", "algorithm"};
constexpr std::string_view kAllToAllV[] = {"order", "file", "window", "algorithm"};
constexpr std::string_view kRing[] = {"bytes", "distance", "window"};
constexpr std::string_view kRecorded[] = {"file"};
constexpr std::string_view kHpio[] = {"layout",       "order",        "access",  "region-size",
                                      "region-space", "region-count", "regions", "aggregators",
                                      "per-node",     "buffer",       "window",  "cycles",
                                      "share",        "thread",       "streams", "holes"};

}  // namespace

bool Pattern::has(std::string_view parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

std::span<const Pattern> patterns() {
  static const Pattern table[] = {
      {"alltoall", "everybody's message to everybody", kAllToAll, 1, {}, all_to_all},
      {"allgather", "everybody's one message to everybody", kAllToAll, 1, {}, all_gather},
      {"alltoallv", "an all-to-all with the bytes of a matrix", kAllToAllV, 1, {}, all_to_all_v},
      {"shift", "a message to the next rank of a ring", kRing, 0, {}, shift},
      {"exchange", "messages with both neighbours in a ring", kRing, 0, {}, exchange},
      {"hpio", "collective I/O in regions", kHpio, 2, {.window = 32}, hpio},
      {"schedule", "what was recorded", kRecorded, 0, {}, recorded},
  };
  return table;
}

const Pattern* find_pattern(std::string_view name) {
  for (const Pattern& each : patterns())
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace haichi::patterns
