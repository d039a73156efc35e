#include "report/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace haichi::report {
namespace {

using nlohmann::json;

json to_json(const CallRecord& call) {
  json result = {{"index", call.index},
                 {"event_call", call.event_call},
                 {"call", call.call},
                 {"handled", call.handled},
                 {"bytes", call.bytes},
                 {"file_begin", call.file_begin},
                 {"file_end", call.file_end},
                 {"seconds", double(call.elapsed_ns) * 1e-9},
                 {"aggregators", call.aggregators},
                 {"layout", call.layout},
                 {"order", call.order},
                 {"window", call.window},
                 {"cycles", call.cycles},
                 {"windows",
                  {{"whole", call.windows_whole},
                   {"separate", call.windows_separate},
                   {"rmw", call.windows_rmw}}},
                 {"why", call.why},
                 {"bytes_inside", call.bytes_inside},
                 {"bytes_between", call.bytes_between},
                 {"messages_between", call.messages_between}};
  if (call.must_cross >= 0) result["bytes_must_cross"] = call.must_cross;
  if (call.behind) {
    result["seconds"] = double(call.elapsed_ns + call.behind->waited_ns) * 1e-9;
    result["waited_seconds"] = double(call.behind->waited_ns) * 1e-9;
    result["thread_seconds"] = double(call.behind->ran_ns) * 1e-9;
  }
  return result;
}

json to_json(const CollectiveAccesses& a) {
  return {{"calls", a.calls}, {"seconds", double(a.elapsed_ns) * 1e-9}, {"bytes", a.bytes}};
}

json to_json(const Flattening& f) {
  return {{"view_blocks", f.view_blocks},
          {"view_bytes", f.view_bytes},
          {"memory_blocks", f.memory_blocks},
          {"memory_bytes", f.memory_bytes},
          {"others_bytes", f.others_bytes}};
}

json to_json(const FileRecord& file) {
  json calls = json::array();
  for (const CallRecord& call : file.calls) calls.push_back(to_json(call));
  return {{"key", file.key},
          {"path", file.path},
          {"hints", file.hints},
          {"ignored_hints", file.ignored_hints},
          {"calls", std::move(calls)},
          {"calls_seen", file.calls_seen},
          {"flattening", to_json(file.flattening)}};
}

json to_json(const CollectiveRecord& record) {
  json candidates = json::array();
  for (const CollectiveRecord::Candidate& each : record.candidates) {
    json candidate = {{"name", each.name}, {"trials", each.trials}, {"dropped", each.dropped}};
    if (each.steady_calls > 0) {
      candidate["steady_calls"] = each.steady_calls;
      candidate["steady_seconds"] = each.steady_seconds;
    }
    if (each.predicted >= 0) {
      candidate["predicted_seconds"] = each.predicted;
      candidate["reason"] = each.reason;
    }
    candidates.push_back(std::move(candidate));
  }
  json result = {{"collective", record.collective},
                 {"ranks", record.ranks},
                 {"nodes", record.nodes},
                 {"calls", record.calls},
                 {"seconds", record.seconds},
                 {"locked", record.locked},
                 {"retries", record.retries},
                 {"chosen", record.chosen},
                 {"why", record.why},
                 {"candidates", std::move(candidates)}};
  if (record.size_bin >= 0) result["block_at_least"] = int64_t{1} << record.size_bin;
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
