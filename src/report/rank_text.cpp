#include "report/rank_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "report/record_json.h"

namespace haichi::report {
namespace {

using nlohmann::json;

template <class Record>
json list_of(const KeptRecords<Record>& kept) {
  json list = json::array();
  for (const Record& record : kept.records) list.push_back(to_json(record));
  return list;
}

json to_json(const RankRecord& record) {
  const trace::Recorder& r = record.recorder;
  json seconds, bytes, events = json::array();
  for (int p = 0; p < trace::kPhases; ++p) {
    const auto phase = trace::Phase(p);
    seconds[name_of(phase)] = double(r.total_ns(phase)) / 1e9;
    if (phase != trace::Phase::agree) bytes[name_of(phase)] = r.total_bytes(phase);
  }
  for (const trace::Event& e : r.events())
    events.push_back({e.call, e.cycle, name_of(e.phase), double(e.begin_ns) / 1e3,
                      double(e.end_ns) / 1e3, e.bytes});
  return {{"collectives", list_of(record.collectives)},
          {"rank", record.rank},
          {"node", record.node},
          {"seconds", seconds},
          {"bytes", bytes},
          {"collective_access", to_json(record.accesses)},
          {"events", std::move(events)},
          {"events_dropped", r.dropped()},
          {"sent_to", r.sent_to()},
          {"files", list_of(record.files)},
          {"notes", record.notes}};
}

// What a rank without events takes, and the numbers of the calls that they are of.
constexpr int64_t kEntryBytes = 448;

/// Leaves out the events that have no room.
void keep_events(json& rank, int64_t room) {
  json& events = rank["events"];
  size_t kept = 0;
  while (kept < events.size() && (room -= int64_t(events[kept].dump().size()) + 1) >= 0) ++kept;
  if (kept == events.size()) return;
  rank["events_dropped"] = rank["events_dropped"].get<int64_t>() + int64_t(events.size() - kept);
  events.erase(events.begin() + std::ptrdiff_t(kept), events.end());
  rank["notes"]["report.bytes: there is no room for all events of a rank"] = 1;
}

}  // namespace

std::string rank_text(RankRecord record, const Bounds& bounds) {
  if (record.files.not_listed > 0)
    record.notes[fmt::format("more than {} files were opened; later ones are not listed",
                             kMostListed)] += record.files.not_listed;
  if (record.collectives.not_listed > 0)
    record.notes["collectives of more communicators and sizes than are listed"] +=
        record.collectives.not_listed;
  json all = to_json(record);
  keep_events(all, bounds.of_a_rank() - kEntryBytes);
  return text_of(all);
}

}  // namespace haichi::report
