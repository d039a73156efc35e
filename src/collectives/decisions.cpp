#include "collectives/decisions.h"

#include <errno.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace haichi::collectives {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "haichi.decisions/1";

bool sensible(const Json& entry) {
  const auto text = [&](const char* name) {
    return entry.contains(name) && entry[name].is_string();
  };
  const auto number = [&](const char* name) {
    return entry.contains(name) && entry[name].is_number();
  };
  if (!entry.is_object() || !text("collective") || !text("chosen") || !number("seconds"))
    return false;
  if (entry.contains("size_bin") &&
      (!entry["size_bin"].is_number_integer() || entry["size_bin"] < 0 || entry["size_bin"] > 62))
    return false;
  const double seconds = entry["seconds"];
  return std::isfinite(seconds) && seconds > 0;
}

}  // namespace

std::string signature_of(const placement::Placement& placement) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    hash ^= uint64_t(placement.node_of(rank)) + 1;
    hash *= 0x100000001b3;
  }
  return fmt::format("{}-ranks-{}-nodes-{:016x}", placement.ranks(), placement.nodes(), hash);
}

std::string decisions_text(const DecidedFor& whom, const std::vector<Decision>& decisions) {
  Json entries = Json::array();
  for (const Decision& each : decisions) {
    Json entry = {{"collective", each.collective}};
    if (each.size_bin >= 0) entry["size_bin"] = each.size_bin;
    entry["chosen"] = each.chosen;
    entry["seconds"] = each.seconds;
    entries.push_back(std::move(entry));
  }
  const Json document = {{"schema", kSchema},
                         {"library", whom.library},
                         {"placement", whom.placement},
                         {"decisions", std::move(entries)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<Decision>> parse_decisions(std::string_view text, const DecidedFor& whom) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return fail(EINVAL, "not a JSON object");
  if (document.value("schema", Json()) != kSchema)
    return fail(EINVAL, "no \"schema\": \"{}\"", kSchema);
  if (document.value("library", Json()) != whom.library)
    return fail(EINVAL, "it is of another MPI library");
  if (document.value("placement", Json()) != whom.placement)
    return fail(EINVAL, "it is of another placement");
  const Json entries = document.value("decisions", Json());
  if (!entries.is_array()) return fail(EINVAL, "it has no list of decisions");
  std::vector<Decision> decisions;
  for (const Json& entry : entries) {
    if (!sensible(entry)) return fail(EINVAL, "entry {} makes no sense", decisions.size());
    decisions.push_back(
        {entry["collective"], entry.value("size_bin", -1), entry["chosen"], entry["seconds"]});
  }
  return decisions;
}

const Decision* find_decision(const std::vector<Decision>& decisions, std::string_view collective,
                              int size_bin) {
  for (const Decision& each : decisions)
    if (each.collective == collective && each.size_bin == size_bin) return &each;
  return nullptr;
}

std::vector<Decision> joined(std::vector<Decision> old, const std::vector<Decision>& now) {
  for (const Decision& each : now) {
    std::erase_if(old, [&](const Decision& other) { return other.same_key(each); });
    old.push_back(each);
  }
  return old;
}

}  // namespace haichi::collectives
