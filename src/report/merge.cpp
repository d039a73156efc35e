#include "report/merge.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"
#include "placement/formats.h"

namespace haichi::report {
namespace {

using nlohmann::json;

/// Joins what the ranks say of the same file and call. The record of the file's rank 0 is the one
/// with reasons, or that of the lowest rank if the call was passed through; sums are over all.
class Merger {
 public:
  void add_rank(json& rank) {
    std::map<int64_t, int64_t> global_call;  // of this rank's trace numbers
    for (json& file : rank["files"]) add_file(file, global_call);
    json events = json::array();
    int64_t lost = 0;
    for (json& event : rank["events"]) {
      const auto call = global_call.find(event[0].get<int64_t>());
      if (call == global_call.end()) {
        ++lost;
        continue;
      }
      event[0] = call->second;
      events.push_back(std::move(event));
    }
    rank["events"] = std::move(events);
    rank["events_dropped"] = rank["events_dropped"].get<int64_t>() + lost;
    for (const auto& [text, count] : rank["notes"].items()) notes_[text] += count.get<int64_t>();
    for (json& each : rank["collectives"]) collectives_.push_back(std::move(each));
    rank.erase("collectives");
    rank.erase("files");
    rank.erase("notes");
  }

  /// Files in order of their first open; several opens of one path are one file.
  json files() {
    json result = json::array();
    std::map<std::string, size_t> of_path;
    for (auto& [key, file] : files_) {
      std::erase_if(file["calls"].get_ref<json::array_t&>(),
                    [](const json& call) { return call.is_null(); });
      for (json& call : file["calls"]) call["holes"] = holes_of(call["windows"]);
      const auto [entry, first] = of_path.try_emplace(file["path"], result.size());
      if (first) {
        file.erase("key");
        result.push_back(std::move(file));
        continue;
      }
      json& known = result[entry->second];
      known["opens"] = known["opens"].get<int>() + 1;
      keep_largest(known["flattening"], file["flattening"]);
      known["calls_seen"] = known["calls_seen"].get<int64_t>() + file["calls_seen"].get<int64_t>();
      for (json& call : file["calls"]) known["calls"].push_back(std::move(call));
    }
    for (json& file : result) {
      const auto handled = [](const json& call) { return call["handled"].get<bool>(); };
      const json& calls = file["calls"];
      const bool any = calls.empty() || std::any_of(calls.begin(), calls.end(), handled);
      file["access"] = any ? "collective" : "passed through";
      file["calls_not_listed"] = file["calls_seen"].get<int64_t>() - int64_t(calls.size());
      file.erase("calls_seen");
    }
    return result;
  }

  /// One entry for each key of each communicator: its rank 0 alone has any.
  json collectives() const { return collectives_; }

  void note(const char* text) { ++notes_[text]; }

  json notes() const {
    json result = json::array();
    for (const auto& [text, count] : notes_)
      result.push_back(count > 1 ? fmt::format("{} ({} times)", text, count) : text);
    return result;
  }

 private:
  static const char* holes_of(const json& windows) {
    if (windows["rmw"].get<int64_t>() > 0) return "rmw";
    return windows["separate"].get<int64_t>() > 0 ? "separate" : "none";
  }

  static void keep_largest(json& a, const json& b) {
    for (auto& [name, value] : a.items())
      value = std::max(value.get<int64_t>(), b[name].get<int64_t>());
  }

  void add_file(json& file, std::map<int64_t, int64_t>& global_call) {
    const int64_t key = file["key"];
    const auto [entry, first] = files_.try_emplace(key);
    if (first) {
      entry->second = file;
      entry->second["opens"] = 1;
      entry->second["calls"] = json::array();
    }
    keep_largest(entry->second["flattening"], file["flattening"]);
    // Of a job that was cut short one rank may be a call further than another.
    json& seen = entry->second["calls_seen"];
    seen = std::max(seen.get<int64_t>(), file["calls_seen"].get<int64_t>());
    json& calls = entry->second["calls"];
    for (json& call : file["calls"]) {
      const size_t index = call["index"];
      while (calls.size() <= index) calls.push_back(nullptr);
      json& merged = calls[index];
      if (!numbers_.count({key, index})) numbers_[{key, index}] = int64_t(numbers_.size());
      global_call[call["event_call"]] = numbers_[{key, index}];
      call.erase("event_call");
      merge_call(merged, call);
      merged["index"] = numbers_[{key, index}];
    }
  }

  /// Of a call that the ranks did together, rank 0 of the file alone knows the extent.
  static void join_extents(json& a, const json& b) {
    const int64_t begin = b["file_begin"], end = b["file_end"];
    if (begin >= end) return;
    const bool none = a["file_begin"].get<int64_t>() >= a["file_end"].get<int64_t>();
    a["file_begin"] = none ? begin : std::min(a["file_begin"].get<int64_t>(), begin);
    a["file_end"] = std::max(a["file_end"].get<int64_t>(), end);
  }

  static void merge_call(json& merged, json& call) {
    if (merged.is_null()) {
      merged = std::move(call);
      return;
    }
    json &a = merged, &b = call;
    if (a["why"].empty()) std::swap(a, b);  // b is the file's rank 0
    for (const char* sum : {"bytes", "bytes_inside", "bytes_between", "messages_between"})
      a[sum] = a[sum].get<int64_t>() + b[sum].get<int64_t>();
    for (const char* sum : {"whole", "separate", "rmw"})
      a["windows"][sum] = a["windows"][sum].get<int64_t>() + b["windows"][sum].get<int64_t>();
    for (const char* most : {"seconds", "waited_seconds", "thread_seconds"})
      if (b.contains(most)) a[most] = std::max(a.value(most, 0.0), b[most].get<double>());
    join_extents(a, b);
    // Ranks of a nonblocking collective decide for themselves.
    a["handled"] = a["handled"].get<bool>() && b["handled"].get<bool>();
    for (const json& reason : b["why"])
      if (std::find(a["why"].begin(), a["why"].end(), reason) == a["why"].end())
        a["why"].push_back(reason);
  }

  std::map<int64_t, json> files_;
  json collectives_ = json::array();
  std::map<std::pair<int64_t, size_t>, int64_t> numbers_;
  std::map<std::string, int64_t> notes_;
};

json settings_list(const Settings& settings) {
  json list = json::array();
  for (const Setting& row : kSettings)
    list.push_back(
        {{"key", row.key}, {"value", settings.text(row)}, {"source", settings.source(row)}});
  return list;
}

json node_names(const json& placement) {
  json names = json::array();
  for (const json& node : placement["nodes"])
    names.push_back(node.value("name", fmt::format("node{}", names.size())));
  return names;
}

std::string iso_time(int64_t seconds) {
  const time_t t = seconds;
  tm parts;
  gmtime_r(&t, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

std::string header(const Job& job) {
  const json parts = {{"schema", "haichi.report/1"},
                      {"haichi", kVersion},
                      {"program",
                       {{"command", job.command},
                        {"ranks", job.world.ranks()},
                        {"started", iso_time(job.started_unix_s)},
                        {"wall_s", job.wall_s},
                        {"job", job.id.empty() ? json() : json(job.id)}}},
                      {"mpi", {{"abi", job.abi}, {"library", job.library}}},
                      {"placement", json::parse(placement::to_json(job.world), nullptr, false)},
                      {"settings", settings_list(job.settings)}};
  return parts.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string merged(std::string_view header, const RankTexts& texts, std::string_view cut) {
  json report = json::parse(header, nullptr, false);
  if (!report.is_object()) return "";
  Merger merger;
  json ranks = json::array();
  const json names = node_names(report["placement"]);
  std::vector<std::vector<int64_t>> bytes(names.size(), std::vector<int64_t>(names.size()));
  if (texts.only_rank_0)
    merger.note("this is what rank 0 says alone: all ranks would say more than 2 GiB");
  for (size_t r = 0; r < texts.size(); ++r) {
    json rank = json::parse(texts[r], nullptr, false);
    if (rank.is_discarded()) continue;
    for (size_t n = 0; n < rank["sent_to"].size(); ++n)
      bytes[rank["node"].get<size_t>()][n] += rank["sent_to"][n].get<int64_t>();
    rank.erase("sent_to");
    merger.add_rank(rank);
    ranks.push_back(std::move(rank));
  }
  report["notes"] = merger.notes();
  report["files"] = merger.files();
  report["collectives"] = merger.collectives();
  report["traffic"] = {{"nodes", names}, {"bytes", bytes}};
  report["ranks"] = std::move(ranks);
  if (!cut.empty()) report["cut"] = json::parse(cut, nullptr, false);
  return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace haichi::report
