#include "mpi/run_report.h"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/version.h"
#include "generated/real.h"
#include "mpi/collective_report.h"
#include "mpi/compat/handles.h"
#include "mpi/library_version.h"
#include "mpi/runtime.h"
#include "placement/formats.h"

namespace haichi::mpi {
namespace {

using nlohmann::json;

// Most files listed; later ones are counted in a note.
constexpr size_t kMaxFilesListed = 200;

struct Kept {
  std::mutex mutex;
  std::vector<FileRecord> files;
  int64_t files_not_listed = 0;
};

Kept& kept() {
  static Kept* const instance = new Kept;  // never destroyed: files may be closed very late
  return *instance;
}

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

json collectives_of_this_rank(Runtime& runtime) {
  json list = json::array();
  int64_t not_listed = 0;
  for (const CollectiveRecord& record : kept_collective_records(not_listed))
    list.push_back(to_json(record));
  if (not_listed > 0)
    runtime.notes["collectives of more communicators and sizes than are listed"] += not_listed;
  return list;
}

/// Everything that this rank knows.
json of_this_rank(Runtime& runtime) {
  const trace::Recorder& r = runtime.recorder;
  json seconds, bytes, events = json::array();
  for (int p = 0; p < trace::kPhases; ++p) {
    const auto phase = trace::Phase(p);
    seconds[name_of(phase)] = double(r.total_ns(phase)) * 1e-9;
    if (phase != trace::Phase::agree) bytes[name_of(phase)] = r.total_bytes(phase);
  }
  for (const trace::Event& e : r.events())
    events.push_back({e.call, e.cycle, name_of(e.phase), double(e.begin_ns) * 1e-3,
                      double(e.end_ns) * 1e-3, e.bytes});
  json files = json::array();
  {
    Kept& k = kept();
    const std::lock_guard guard(k.mutex);
    for (const FileRecord& file : k.files) files.push_back(to_json(file));
    if (k.files_not_listed > 0)
      runtime.notes[fmt::format("more than {} files were opened; later ones are not listed",
                                kMaxFilesListed)] += k.files_not_listed;
  }
  json collectives = collectives_of_this_rank(runtime);
  return {{"collectives", std::move(collectives)},
          {"rank", runtime.rank},
          {"node", runtime.world.node_of(runtime.rank)},
          {"seconds", seconds},
          {"bytes", bytes},
          {"collective_access", to_json(runtime.accesses)},
          {"events", std::move(events)},
          {"events_dropped", r.dropped()},
          {"sent_to", r.sent_to()},
          {"files", std::move(files)},
          {"notes", runtime.notes}};
}

// Most bytes of what rank 0 says, which knows the reasons, and of what all others say.
constexpr int64_t kOfRank0 = 64 << 20, kMostTogether = int64_t{3} << 29;

/// What this rank says, in no more than its share of the bytes that all may say: MPI counts what
/// rank 0 gathers in an int, and rank 0 has to keep it. What is left out is noted.
std::string bounded_text(Runtime& runtime) {
  json all = of_this_rank(runtime);
  const int64_t together = std::min(runtime.settings.number("report.bytes"), kMostTogether);
  const int64_t share = runtime.rank == 0 ? kOfRank0 : together / runtime.world.ranks();
  const auto text = [&] { return all.dump(-1, ' ', false, json::error_handler_t::replace); };
  std::string result = text();
  const auto leave_out = [&](const char* what, json nothing) {
    if (int64_t(result.size()) <= share || all[what] == nothing) return;
    if (std::string_view(what) == "events")
      all["events_dropped"] = all["events_dropped"].get<int64_t>() + int64_t(all[what].size());
    all[what] = std::move(nothing);
    all["notes"]
       [fmt::format("report.bytes: {} of a rank other than 0 are left out, {} bytes are too many",
                    what, runtime.settings.text("report.bytes"))] = 1;
    result = text();
  };
  leave_out("events", json::array());
  leave_out("files", json::array());
  leave_out("sent_to", json::array());
  return result;
}

/// The texts of all ranks on rank 0, in order of rank.
struct Texts {
  std::string all;
  std::vector<size_t> begins;  // of each, and the end of the last
  bool only_rank_0 = false;    // the others' are empty

  size_t size() const { return begins.empty() ? 0 : begins.size() - 1; }
  std::string_view operator[](size_t rank) const {
    return std::string_view(all).substr(begins[rank], begins[rank + 1] - begins[rank]);
  }
};

Texts gather(const Runtime& runtime, const std::string& own) {
  const Handles& h = handles();
  const int ranks = runtime.world.ranks();
  int size = int(own.size());
  std::vector<int> sizes(size_t(runtime.rank == 0 ? ranks : 0)), begins;
  real().Gather(&size, sizeof size, h.byte, sizes.data(), sizeof size, h.byte, 0, h.comm_world);
  int64_t total = 0, only_rank_0 = 0;
  for (const int s : sizes) total += s;
  // However little each rank says, millions of them may say too much together.
  if (total > INT32_MAX) only_rank_0 = 1;
  real().Bcast(&only_rank_0, 1, h.int64, 0, h.comm_world);
  if (only_rank_0) {
    std::fill(sizes.begin(), sizes.end(), 0);
    if (runtime.rank == 0) sizes[0] = size;
    if (runtime.rank != 0) size = 0;
  }
  Texts texts;
  texts.only_rank_0 = only_rank_0 != 0;
  total = 0;
  for (const int s : sizes) {
    begins.push_back(int(total));
    texts.begins.push_back(size_t(total));
    total += s;
  }
  texts.begins.push_back(size_t(total));
  texts.all.resize(size_t(total));
  real().Gatherv(own.data(), size, h.byte, texts.all.data(), sizes.data(), begins.data(), h.byte, 0,
                 h.comm_world);
  return texts;
}

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

std::string command_line() {
  auto text = read_file("/proc/self/cmdline");
  if (!text) return "";
  if (!text->empty() && text->back() == 0) text->pop_back();
  std::replace(text->begin(), text->end(), '\0', ' ');
  return *text;
}

json job_id() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PJM_JOBID", "FLUX_JOB_ID"})
    if (const char* id = getenv(name)) return id;
  return nullptr;
}

json settings_list(const Settings& settings) {
  json list = json::array();
  for (const Setting& row : settings_table())
    list.push_back({{"key", row.key},
                    {"value", settings.text(row.key)},
                    {"source", settings.source(row.key)}});
  return list;
}

std::string iso_time(int64_t seconds) {
  const time_t t = seconds;
  tm parts;
  gmtime_r(&t, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string report_path(std::string path) {
  auto fill = [&](std::string_view key, const std::string& value) {
    for (size_t at; (at = path.find(key)) != path.npos;) path.replace(at, key.size(), value);
  };
  const json job = job_id();
  fill("%j", job.is_string() ? job.get<std::string>() : "nojob");
  fill("%p", std::to_string(getpid()));
  return path;
}

void write_on_rank_0(Runtime& runtime, const Texts& texts) {
  Merger merger;
  json ranks = json::array(), matrix = json::array(), names = json::array();
  const auto nodes = size_t(runtime.world.nodes());
  std::vector<std::vector<int64_t>> bytes(nodes, std::vector<int64_t>(nodes));
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
  for (size_t n = 0; n < nodes; ++n) names.push_back(runtime.world.node_name(int(n)));
  const json report = {
      {"schema", "haichi.report/1"},
      {"haichi", kVersion},
      {"program",
       {{"command", command_line()},
        {"ranks", runtime.world.ranks()},
        {"started", iso_time(runtime.started_unix_s)},
        {"wall_s", double(now_ns() - runtime.start_ns) * 1e-9},
        {"job", job_id()}}},
      {"mpi", {{"abi", kAbi}, {"library", library_version()}}},
      {"placement", json::parse(placement::to_json(runtime.world), nullptr, false)},
      {"settings", settings_list(runtime.settings)},
      {"notes", merger.notes()},
      {"files", merger.files()},
      {"collectives", merger.collectives()},
      {"traffic", {{"nodes", names}, {"bytes", bytes}}},
      {"ranks", std::move(ranks)}};
  const std::string path = report_path(runtime.settings.text("report.file"));
  const auto written =
      write_file_atomically(path, report.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!written)
    log(LogLevel::error, "no report: {}; give HAICHI_REPORT a path that can be written",
        written.error().text);
}

}  // namespace

void keep_file_record(FileRecord record) {
  Kept& k = kept();
  const std::lock_guard guard(k.mutex);
  if (k.files.size() < kMaxFilesListed)
    k.files.push_back(std::move(record));
  else
    ++k.files_not_listed;
}

void write_run_report(Runtime& runtime) {
  if (!runtime.reports) return;
  std::string own;
  {
    const std::lock_guard guard(runtime.mutex);
    own = bounded_text(runtime);
  }
  const auto texts = gather(runtime, own);
  if (runtime.rank == 0) write_on_rank_0(runtime, texts);
}

}  // namespace haichi::mpi
