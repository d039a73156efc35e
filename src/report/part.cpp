#include "report/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/record_json.h"

namespace haichi::report {
namespace {

using nlohmann::json;

constexpr const char* kNoRoom = "report.bytes: there is no room for";

int64_t size_of(const json& value) { return int64_t(text_of(value).size()); }

void keep_largest(json& a, const json& b) {
  for (auto& [name, value] : a.items())
    value = std::max(value.get<int64_t>(), b.at(name).get<int64_t>());
}

/// Of a call that the ranks did together, rank 0 of the file alone knows the extent.
void join_extents(json& a, const json& b) {
  const int64_t begin = b["file_begin"], end = b["file_end"];
  if (begin >= end) return;
  const bool none = a["file_begin"].get<int64_t>() >= a["file_end"].get<int64_t>();
  a["file_begin"] = none ? begin : std::min(a["file_begin"].get<int64_t>(), begin);
  a["file_end"] = std::max(a["file_end"].get<int64_t>(), end);
}

/// The record of the file's rank 0 is the one with reasons, or that of the lowest rank if the call
/// was passed through; sums are over all.
void join_call(json& merged, json& call) {
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

const char* holes_of(const json& windows) {
  if (windows["rmw"].get<int64_t>() > 0) return "rmw";
  return windows["separate"].get<int64_t>() > 0 ? "separate" : "none";
}

/// Which calls this rank's events and messages are of: [number in its trace, key of the file,
/// index] of each.
json calls_of_events(const json& rank) {
  std::set<int64_t> numbers;
  for (const char* list : {"events", "messages"})
    if (rank.contains(list))
      for (const json& row : rank[list]) numbers.insert(row[0].get<int64_t>());
  json calls = json::array();
  for (const json& file : rank["files"])
    for (const json& call : file["calls"])
      if (numbers.count(call["event_call"].get<int64_t>()) > 0)
        calls.push_back({call["event_call"], file["key"], call["index"]});
  return calls;
}

json phases_of(const json& rank) {
  json phases = json::object();
  for (const auto& [name, seconds] : rank["seconds"].items())
    if (seconds.get<double>() > 0)
      phases[name] = {
          {"ranks", 1}, {"min", seconds}, {"max", seconds}, {"rank_of_max", rank["rank"]}};
  return phases;
}

/// Joins {"calls", "seconds", "bytes"} of ranks: the most of one rank, and the bytes of all.
void join_access(json& a, const json& b) {
  if (a.is_null()) {
    a = b;
    return;
  }
  a["calls"] = std::max(a["calls"].get<int64_t>(), b.at("calls").get<int64_t>());
  a["seconds"] = std::max(a["seconds"].get<double>(), b.at("seconds").get<double>());
  a["bytes"] = a["bytes"].get<int64_t>() + b.at("bytes").get<int64_t>();
}

void count_dropped(json& rank, const std::string& list, size_t rows) {
  if (rows > 0) rank[list + "_dropped"] = rank.value(list + "_dropped", int64_t{0}) + int64_t(rows);
}

void drop_rows(json& rank, const char* list) {
  if (!rank.contains(list)) return;
  count_dropped(rank, list, rank[list].size());
  rank[list] = json::array();
}

/// Gives each row the number that its call has in the report. Rows of other calls go.
void number_rows(json& rank, const char* list, const std::map<int64_t, int64_t>& of_trace) {
  if (!rank.contains(list)) return;
  json kept = json::array();
  for (json& row : rank[list])
    if (const auto number = of_trace.find(row[0].get<int64_t>()); number != of_trace.end()) {
      row[0] = number->second;
      kept.push_back(std::move(row));
    }
  count_dropped(rank, list, rank[list].size() - kept.size());
  rank[list] = std::move(kept);
}

/// Joins sums; nothing, `b`, adds nothing.
void join_sums(json& a, const json& b) {
  if (a.is_null())
    a = b;
  else if (!b.is_null())
    for (auto& [name, sum] : a.items()) sum = sum.get<int64_t>() + b.at(name).get<int64_t>();
}

json node_names(const json& placement, int each) {
  std::vector<std::string> names;
  for (const json& node : placement["nodes"])
    names.push_back(node.value("name", fmt::format("node{}", names.size())));
  json rows = json::array();
  for (size_t n = 0; n < names.size(); n += size_t(each)) {
    const size_t last = std::min(n + size_t(each), names.size()) - 1;
    rows.push_back(last == n ? names[n] : fmt::format("{} … {}", names[n], names[last]));
  }
  return rows;
}

}  // namespace

Part::Part(const Bounds& bounds) : bounds_(bounds) {}

bool Part::add_rank(std::string_view text) {
  added_ += int64_t(text.size());
  json rank = json::parse(text, nullptr, false);
  if (!rank.is_object()) return false;
  const int number = rank["rank"], node = rank["node"], each = bounds_.nodes_each();
  for (size_t n = 0; n < rank["sent_to"].size(); ++n)
    sent_[{node / each, int(n) / each}] += rank["sent_to"][n].get<int64_t>();
  rank["calls"] = calls_of_events(rank);
  for (json& file : rank["files"]) join_file(file);
  for (json& each_one : rank["collectives"]) collectives_.push_back(std::move(each_one));
  for (const auto& [note, count] : rank["notes"].items()) notes_[note] += count.get<int64_t>();
  join_phases(phases_of(rank));
  join_access(access_, rank["collective_access"]);
  join_sums(storage_, rank["storage"]);
  json nodes = json::array({{{"node", node},
                             {"ranks", 1},
                             {"seconds", rank["seconds"]},
                             {"bytes", rank["bytes"]},
                             {"collective_access", rank["collective_access"]}}});
  join_nodes(nodes);
  for (const char* told : {"sent_to", "files", "collectives", "notes", "storage"}) rank.erase(told);
  ranks_[number] = std::move(rank);
  keep_within_bounds();
  return true;
}

bool Part::add(std::string_view text) {
  added_ += int64_t(text.size());
  json part = json::parse(text, nullptr, false);
  if (!part.is_object()) return false;
  for (json& file : part["files"]) join_file(file);
  for (json& each : part["collectives"]) collectives_.push_back(std::move(each));
  for (const auto& [note, count] : part["notes"].items()) notes_[note] += count.get<int64_t>();
  join_phases(part["phases"]);
  join_access(access_, part["access"]);
  join_sums(storage_, part["storage"]);
  join_nodes(part["nodes"]);
  for (const json& row : part["sent"]) sent_[{row[0], row[1]}] += row[2].get<int64_t>();
  for (json& rank : part["ranks"]) {
    const int number = rank["rank"];
    ranks_[number] = std::move(rank);
  }
  ranks_not_listed_ += part["ranks_not_listed"].get<int64_t>();
  keep_within_bounds();
  return true;
}

std::string Part::text() {
  json files = json::array(), ranks = json::array(), nodes = json::array(), sent = json::array();
  for (const auto& [key, file] : files_) {
    json calls = json::array();
    for (const json& call : file["calls"])
      if (!call.is_null()) calls.push_back(shortened(call));
    files.push_back(file);
    files.back()["calls"] = std::move(calls);
  }
  for (const auto& [number, rank] : ranks_) ranks.push_back(rank);
  for (const auto& [number, node] : nodes_) nodes.push_back(node);
  for (const auto& [pair, bytes] : sent_) sent.push_back({pair.first, pair.second, bytes});
  return text_of({{"files", std::move(files)},
                  {"ranks", std::move(ranks)},
                  {"ranks_not_listed", ranks_not_listed_},
                  {"nodes", std::move(nodes)},
                  {"sent", std::move(sent)},
                  {"collectives", collectives_},
                  {"notes", notes_},
                  {"phases", phases_},
                  {"access", access_},
                  {"storage", storage_}});
}

void Part::join_file(json& file) {
  static const json kNoCall = to_json(CallRecord());
  const int64_t key = file["key"];
  const auto [entry, first] = files_.try_emplace(key);
  json& known = entry->second;
  json told = std::move(file["calls"]);
  if (first) {
    known = std::move(file);
    known["calls"] = json::array();
  } else {
    keep_largest(known["flattening"], file["flattening"]);
    // Of a job that was cut short one rank may be a call further than another.
    known["calls_seen"] =
        std::max(known["calls_seen"].get<int64_t>(), file["calls_seen"].get<int64_t>());
  }
  json& calls = known["calls"];
  for (json& call : told) {
    complete(call, kNoCall);
    complete(call["windows"], kNoCall["windows"]);
    call.erase("event_call");
    const size_t index = call["index"];
    while (calls.size() <= index) calls.push_back(nullptr);
    join_call(calls[index], call);
  }
}

void Part::join_phases(const json& phases) {
  for (const auto& [name, told] : phases.items()) {
    if (!phases_.contains(name)) {
      phases_[name] = told;
      continue;
    }
    json& known = phases_[name];
    known["ranks"] = known["ranks"].get<int64_t>() + told["ranks"].get<int64_t>();
    known["min"] = std::min(known["min"].get<double>(), told["min"].get<double>());
    if (known["max"] < told["max"]) {
      known["max"] = told["max"];
      known["rank_of_max"] = told["rank_of_max"];
    }
  }
}

void Part::join_nodes(json& nodes) {
  for (json& node : nodes) {
    const auto [entry, first] = nodes_.try_emplace(node["node"].get<int>());
    json& known = entry->second;
    if (first) {
      known = std::move(node);
      continue;
    }
    known["ranks"] = known["ranks"].get<int64_t>() + node["ranks"].get<int64_t>();
    for (auto& [phase, most] : known["seconds"].items())
      most = std::max(most.get<double>(), node["seconds"][phase].get<double>());
    for (auto& [phase, sum] : known["bytes"].items())
      sum = sum.get<int64_t>() + node["bytes"][phase].get<int64_t>();
    join_access(known["collective_access"], node["collective_access"]);
  }
}

void Part::keep_within_bounds() {
  // As long as all of it is less than the least bound there is nothing to look for.
  if (added_ <= bounds_.of_notes()) return;
  int64_t left = bounds_.of_files();
  for (auto& [key, file] : files_) {
    json& calls = file["calls"];
    size_t kept = 0;
    left -= size_of({{"hints", file["hints"]}, {"path", file["path"]}});
    for (; kept < calls.size(); ++kept)
      if (!calls[kept].is_null() && (left -= size_of(shortened(calls[kept]))) < 0) break;
    calls.erase(calls.begin() + std::ptrdiff_t(kept), calls.end());
  }
  while (left < 0 && files_.size() > 1 && files_.rbegin()->second["calls"].empty()) {
    left += size_of(files_.rbegin()->second);
    files_.erase(std::prev(files_.end()));
    ++notes_[fmt::format("{} all files", kNoRoom)];
  }
  left = bounds_.of_collectives();
  auto& all = collectives_.get_ref<json::array_t&>();
  std::stable_sort(all.begin(), all.end(),
                   [](const json& a, const json& b) { return a["seconds"] > b["seconds"]; });
  size_t kept = 0;
  while (kept < all.size() && (left -= size_of(all[kept])) >= 0) ++kept;
  if (kept < all.size())
    notes_[fmt::format("{} collectives of all communicators and sizes", kNoRoom)] +=
        int64_t(all.size() - kept);
  all.resize(kept);
  left = bounds_.of_notes();
  for (auto note = notes_.begin(); note != notes_.end();)
    note = (left -= int64_t(note->first.size()) + 24) >= 0 ? std::next(note) : notes_.erase(note);
  const auto most_nodes = size_t(bounds_.of_nodes() / 384);
  while (nodes_.size() > std::max<size_t>(most_nodes, 1)) nodes_.erase(std::prev(nodes_.end()));
  keep_ranks();
}

void Part::keep_ranks() {
  int64_t size = 0;
  for (const auto& [number, rank] : ranks_) size += size_of(rank);
  if (size <= bounds_.of_ranks()) return;
  size = 0;
  for (auto& [number, rank] : ranks_) {
    for (const char* list : {"events", "messages", "exchanges"}) drop_rows(rank, list);
    rank["calls"] = json::array();
    size += size_of(rank);
  }
  std::set<int> slowest;
  for (const auto& [name, phase] : phases_.items()) slowest.insert(phase["rank_of_max"].get<int>());
  for (auto rank = ranks_.end(); rank != ranks_.begin() && size > bounds_.of_ranks();) {
    --rank;
    if (rank->first == 0 || slowest.count(rank->first) > 0) continue;
    size -= size_of(rank->second);
    rank = ranks_.erase(rank);
    ++ranks_not_listed_;
  }
}

/// Calls are numbered through the run; events of a rank say which of its calls they are of.
void Part::number_calls(json& files) {
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
  for (json& file : files)
    for (json& call : file["calls"]) {
      const auto number = int64_t(numbers.size());
      numbers[{file["key"].get<int64_t>(), call["index"].get<int64_t>()}] = number;
      call["index"] = number;
    }
  for (auto& [which, rank] : ranks_) {
    std::map<int64_t, int64_t> of_trace;
    for (const json& call : rank["calls"])
      if (const auto number = numbers.find({call[1].get<int64_t>(), call[2].get<int64_t>()});
          number != numbers.end())
        of_trace[call[0].get<int64_t>()] = number->second;
    for (const char* list : {"events", "messages"}) number_rows(rank, list, of_trace);
    rank.erase("calls");
  }
}

/// Files in order of their first open; several opens of one path are one file.
json Part::files_with_numbers() {
  json opened = json::array(), result = json::array();
  for (auto& [key, file] : files_) {
    std::erase_if(file["calls"].get_ref<json::array_t&>(),
                  [](const json& call) { return call.is_null(); });
    for (json& call : file["calls"]) call["holes"] = holes_of(call["windows"]);
    opened.push_back(std::move(file));
  }
  number_calls(opened);
  std::map<std::string, size_t> of_path;
  for (json& file : opened) {
    file.erase("key");
    const auto [entry, first] = of_path.try_emplace(file["path"], result.size());
    if (first) {
      file["opens"] = 1;
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
    const json& calls = file["calls"];
    const bool any = calls.empty() || std::any_of(calls.begin(), calls.end(), [](const json& call) {
                       return call["handled"].get<bool>();
                     });
    file["access"] = any ? "collective" : "passed through";
    file["calls_not_listed"] = file["calls_seen"].get<int64_t>() - int64_t(calls.size());
    file.erase("calls_seen");
  }
  return result;
}

json Part::traffic(const json& placement) const {
  const int each = bounds_.nodes_each();
  json names = node_names(placement, each);
  const size_t rows = names.size();
  std::vector<std::vector<int64_t>> bytes(rows, std::vector<int64_t>(rows));
  for (const auto& [pair, sum] : sent_)
    if (size_t(std::max(pair.first, pair.second)) < rows)
      bytes[size_t(pair.first)][size_t(pair.second)] = sum;
  json result = {{"nodes", std::move(names)}, {"bytes", bytes}};
  if (each > 1) result["nodes_each"] = each;
  return result;
}

std::string Part::report(std::string_view header, std::string_view cut) {
  json report = json::parse(header, nullptr, false);
  if (!report.is_object()) return "";
  report["files"] = files_with_numbers();
  report["collectives"] = std::move(collectives_);
  report["traffic"] = traffic(report["placement"]);
  json ranks = json::array(), notes = json::array(), nodes = json::array();
  for (auto& [number, rank] : ranks_) ranks.push_back(std::move(rank));
  for (auto& [number, node] : nodes_) nodes.push_back(std::move(node));
  for (const auto& [text, count] : notes_)
    notes.push_back(count > 1 ? fmt::format("{} ({} times)", text, count) : text);
  report["notes"] = std::move(notes);
  report["ranks"] = std::move(ranks);
  if (ranks_not_listed_ > 0)
    report["others"] = {{"ranks", ranks_not_listed_},
                        {"phases", phases_},
                        {"collective_access", access_},
                        {"nodes", std::move(nodes)}};
  if (!storage_.is_null()) report["storage"] = storage_;
  if (!cut.empty()) report["cut"] = json::parse(cut, nullptr, false);
  return text_of(report);
}

}  // namespace haichi::report
