#include "report/record_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace haichi::report {

using nlohmann::json;

namespace {

json to_json(const Flattening& f) {
  return {{"view_blocks", f.view_blocks},
          {"view_bytes", f.view_bytes},
          {"memory_blocks", f.memory_blocks},
          {"memory_bytes", f.memory_bytes},
          {"others_bytes", f.others_bytes}};
}

bool says_nothing(const json& value) {
  if (value.is_object()) return std::all_of(value.begin(), value.end(), says_nothing);
  if (value.is_number()) return value == 0;
  if (value.is_boolean()) return !value.get<bool>();
  return value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

}  // namespace

json to_json(const CallRecord& call) {
  json result = {{"index", call.index},
                 {"event_call", call.event_call},
                 {"call", call.call},
                 {"handled", call.handled},
                 {"bytes", call.bytes},
                 {"file_begin", call.file_begin},
                 {"file_end", call.file_end},
                 {"seconds", double(call.elapsed_ns) / 1e9},
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
  if (call.min_internode_bytes >= 0) result["bytes_must_cross"] = call.min_internode_bytes;
  if (call.behind) {
    result["seconds"] = double(call.elapsed_ns + call.behind->waited_ns) / 1e9;
    result["waited_seconds"] = double(call.behind->waited_ns) / 1e9;
    result["thread_seconds"] = double(call.behind->ran_ns) / 1e9;
  }
  return result;
}

json to_json(const CollectiveAccesses& a) {
  return {{"calls", a.calls}, {"seconds", double(a.elapsed_ns) / 1e9}, {"bytes", a.bytes}};
}

json to_json(const FileRecord& file) {
  json calls = json::array();
  for (const CallRecord& call : file.calls) calls.push_back(to_json(call));
  return {{"key", file.key},
          {"path", file.path},
          {"hints", file.hints},
          {"ignored_hints", file.ignored_hints},
          {"calls_seen", file.calls_seen},
          {"flattening", to_json(file.flattening)},
          {"calls", std::move(calls)}};
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

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string record_of_note(const std::string& text) { return text_of({{"note", text}}); }

json shortened(json object) {
  for (auto entry = object.begin(); entry != object.end();)
    entry = says_nothing(entry.value()) ? object.erase(entry) : std::next(entry);
  return object;
}

void complete(json& object, const json& pattern) {
  for (const auto& [name, value] : pattern.items())
    if (!object.contains(name)) object[name] = value;
}

}  // namespace haichi::report
