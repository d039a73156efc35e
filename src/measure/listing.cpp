#include "measure/listing.h"

#include "measure/records.h"

namespace haichi::measure {

std::string list_as_text(std::span<const Chosen> chosen) {
  std::string text;
  std::string_view group;
  for (const Chosen& each : chosen) {
    const Measurement& one = *each.measurement;
    if (one.group != group) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", one.group);
    group = one.group;
    text += fmt::format("  {:<28} {}\n", one.name, one.timed);
  }
  return text;
}

std::string list_as_json(std::span<const Chosen> chosen) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Chosen& each : chosen) list.push_back(record_of(*each.measurement));
  return list.dump(1) + "\n";
}

}  // namespace haichi::measure
