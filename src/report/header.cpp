#include "report/header.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/utc_text.h"
#include "base/version.h"
#include "placement/formats.h"
#include "report/record_json.h"

namespace haichi::report {
namespace {

using nlohmann::json;

// A place takes some 30 bytes.
constexpr int kMostPlaces = 4096;

json settings_list(const Settings& settings) {
  json list = json::array();
  for (const Setting& row : kSettings)
    list.push_back(
        {{"key", row.key}, {"value", settings.text(row)}, {"source", settings.source(row)}});
  return list;
}

json machine_use(const MachineUse& use) {
  static constexpr const char* kKinds[] = {"defaults", "named", "found"};
  json object = {{"use", kKinds[size_t(use.kind)]}, {"why", use.why}};
  for (const auto& [key, text] :
       {std::pair("file", &use.file), std::pair("name", &use.name), std::pair("made", &use.made)})
    if (!text->empty()) object[key] = *text;
  return object;
}

}  // namespace

std::string header(const Job& job) {
  json world = json::parse(placement::to_json(job.world), nullptr, false);
  if (job.world.ranks() > kMostPlaces) world.erase("places");
  const json parts = {{"schema", "haichi.report/1"},
                      {"haichi", kVersion},
                      {"program",
                       {{"command", job.command},
                        {"ranks", job.world.ranks()},
                        {"started", utc_text(job.started_unix_s)},
                        {"wall_s", job.wall_s},
                        {"job", job.id.empty() ? json() : json(job.id)}}},
                      {"mpi", {{"abi", job.abi}, {"library", job.library}}},
                      {"machine", machine_use(job.machine)},
                      {"placement", std::move(world)},
                      {"settings", settings_list(job.settings)}};
  return text_of(parts);
}

}  // namespace haichi::report
