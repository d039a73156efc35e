#include "report/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "report/record_json.h"

namespace haichi::report {
namespace {

using nlohmann::json;

json to_json(const FileRecord& file) {
  json result = to_json_without_calls(file), calls = json::array();
  for (const CallRecord& call : file.calls) calls.push_back(to_json(call));
  result["calls"] = std::move(calls);
  return result;
}

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
    seconds[name_of(phase)] = double(r.total_ns(phase)) * 1e-9;
    if (phase != trace::Phase::agree) bytes[name_of(phase)] = r.total_bytes(phase);
  }
  for (const trace::Event& e : r.events())
    events.push_back({e.call, e.cycle, name_of(e.phase), double(e.begin_ns) * 1e-3,
                      double(e.end_ns) * 1e-3, e.bytes});
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

// Most bytes of what rank 0 says, and of what all others say: MPI counts what rank 0 gathers in an
// int.
constexpr int64_t kOfRank0 = 64 << 20, kMostTogether = int64_t{3} << 29;

}  // namespace

std::string rank_text(RankRecord record, int64_t most_bytes) {
  if (record.files.not_listed > 0)
    record.notes[fmt::format("more than {} files were opened; later ones are not listed",
                             kMostListed)] += record.files.not_listed;
  if (record.collectives.not_listed > 0)
    record.notes["collectives of more communicators and sizes than are listed"] +=
        record.collectives.not_listed;
  json all = to_json(record);
  const int64_t share =
      record.rank == 0 ? kOfRank0 : std::min(most_bytes, kMostTogether) / record.ranks;
  const auto text = [&] { return all.dump(-1, ' ', false, json::error_handler_t::replace); };
  std::string result = text();
  const auto leave_out = [&](const char* what, json nothing) {
    if (int64_t(result.size()) <= share || all[what] == nothing) return;
    if (std::string_view(what) == "events")
      all["events_dropped"] = all["events_dropped"].get<int64_t>() + int64_t(all[what].size());
    all[what] = std::move(nothing);
    all["notes"]
       [fmt::format("report.bytes: {} of a rank other than 0 are left out, {} bytes are too many",
                    what, most_bytes)] = 1;
    result = text();
  };
  leave_out("events", json::array());
  leave_out("files", json::array());
  leave_out("sent_to", json::array());
  return result;
}

}  // namespace haichi::report
