#include "report/read_logs.h"

#include <errno.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "placement/formats.h"
#include "report/log_form.h"
#include "report/part.h"
#include "report/record_json.h"
#include "trace/recorder.h"

namespace haichi::report {
namespace {

using nlohmann::json;

// The logs have had bounds of their own.
constexpr int64_t kMostBytes = int64_t{1} << 30;

/// Gives the lines of a text, up to the first byte that nobody has written.
template <class Take>
void for_each_line(std::string_view text, Take&& take) {
  text = text.substr(0, std::min(text.find('\0'), text.size()));
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The object in a line; nothing if the line is not whole.
std::optional<json> object_in(std::string_view line) {
  const auto text = opened(line);
  if (!text) return std::nullopt;
  json object = json::parse(*text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  return object;
}

/// What one rank has left.
struct RankLeft {
  json text;  // as rank_text() says it
  double at_s = 0;
  int64_t lost = 0;
};

class Logs {
 public:
  Status add(std::string_view file) {
    std::optional<json> head;
    for_each_line(file.substr(0, size_t(kHeadBytes)), [&](std::string_view line) {
      if (!head) head = object_in(line);
    });
    if (!head || head->value("schema", "") != "haichi.log/1")
      return fail(EINVAL, "is no log of a run (haichi.log/1)");
    const std::string job = head->value("job", "");
    if (!job_.empty() && job != job_) return fail(EINVAL, "is of another run than the first log");
    job_ = job;
    const int node = head->value("node", 0);
    const LogLayout layout(head->value("first", int64_t{0}), head->value("share", int64_t{0}));
    for (int local = 0;; ++local) {
      const auto part = layout.part(node, local);
      if (!part || part->size < kLeastShare || part->begin >= int64_t(file.size())) return {};
      add_rank(file.substr(size_t(part->begin), size_t(part->size)), part->size);
    }
  }

  Result<std::string> report() {
    if (header_.is_null())
      return fail(ENOENT, "rank 0 has left no log, which says what the run was");
    const int ranks = header_["program"].value("ranks", 1);
    double last_s = 0;
    Part part(
        {.ranks = ranks, .nodes = int(header_["placement"]["nodes"].size()), .bytes = kMostBytes});
    std::vector<int> missing;
    int64_t lost = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto left = ranks_.find(rank);
      if (left == ranks_.end()) {
        missing.push_back(rank);
        continue;
      }
      last_s = std::max(last_s, left->second.at_s);
      lost += left->second.lost;
      part.add_rank(text_of(left->second.text));
    }
    header_["program"]["wall_s"] = last_s;
    json cut = {{"last_s", last_s},
                {"ranks_without_log", placement::to_rank_list(missing)},
                {"records_lost", lost},
                {"lines_damaged", damaged_}};
    for (const auto& [name, value] : end_.items())
      if (name != "at") cut[name] = value;
    return part.report(header_.dump(), cut.dump());
  }

 private:
  void add_rank(std::string_view part, int64_t size) {
    // Behind bytes that nobody has written, unless the records have reached it.
    if (int64_t(part.size()) > size - kEndBytes)
      for_each_line(part.substr(size_t(size - kEndBytes)), [&](std::string_view line) {
        if (auto object = object_in(line); object && object->contains("by"))
          take_end(std::move(*object));
      });
    std::optional<json> totals;
    for (const int64_t begin : {int64_t{0}, kTotalsBytes}) {
      const std::string_view place = part.substr(0, size_t(2 * kTotalsBytes)).substr(size_t(begin));
      bool first = true;
      for_each_line(place.substr(0, size_t(kTotalsBytes)), [&](std::string_view line) {
        auto object = std::exchange(first, false) ? object_in(line) : std::nullopt;
        if (object && (!totals || totals->value("n", 0) < object->value("n", 0)))
          totals = std::move(object);
      });
    }
    if (!totals) return;
    const int rank = totals->value("r", -1);
    if (rank < 0) return;
    RankLeft& left = ranks_[rank];
    left.at_s = totals->value("at", 0.0);
    left.lost = totals->value("lost", int64_t{0});
    left.text = start_of(rank, *totals);
    if (part.size() <= size_t(2 * kTotalsBytes)) return;
    part.remove_prefix(size_t(2 * kTotalsBytes));
    for_each_line(part, [&](std::string_view line) { add_record(left.text, line); });
  }

  static json start_of(int rank, const json& totals) {
    json seconds, bytes;
    for (int p = 0; p < trace::kPhases; ++p) {
      const char* const name = name_of(trace::Phase(p));
      seconds[name] = totals.at("s").at(size_t(p));
      if (trace::Phase(p) != trace::Phase::agree) bytes[name] = totals.at("b").at(size_t(p));
    }
    const json& access = totals.at("a");
    return {{"rank", rank},
            {"node", totals.value("d", 0)},
            {"seconds", seconds},
            {"bytes", bytes},
            {"collective_access",
             {{"calls", access.at(0)}, {"seconds", access.at(1)}, {"bytes", access.at(2)}}},
            {"events", json::array()},
            {"events_dropped", 0},
            {"sent_to", json::array()},
            {"files", json::array()},
            {"collectives", json::array()},
            {"notes", json::object()}};
  }

  void add_record(json& rank, std::string_view line) {
    auto object = object_in(line);
    if (!object) {
      ++damaged_;
      return;
    }
    if (object->contains("report")) {
      header_ = std::move((*object)["report"]);
    } else if (object->contains("file")) {
      json& file = (*object)["file"];
      static const json kNoFile = to_json_without_calls({});
      complete(file, kNoFile);
      file["calls"] = json::array();
      rank["files"].push_back(std::move(file));
    } else if (object->contains("call")) {
      add_call(rank["files"], *object);
    } else if (object->contains("note")) {
      rank["notes"][(*object)["note"].get<std::string>()] = 1;
    } else if (object->contains("by")) {
      take_end(std::move(*object));
    }
  }

  static void add_call(json& files, json& record) {
    static const json kNoCall = to_json(CallRecord());
    for (json& file : files) {
      if (file["key"] != record.at("key")) continue;
      json& call = record["call"];
      complete(call, kNoCall);
      complete(call["windows"], kNoCall["windows"]);
      file["calls_seen"] =
          std::max(file["calls_seen"].get<int64_t>(), call["index"].get<int64_t>() + 1);
      file["calls"].push_back(std::move(call));
      return;
    }
  }

  /// Of several ranks that ended the job, the first one's word counts.
  void take_end(json end) {
    if (end_.is_null() || end.at("at") < end_.at("at")) end_ = std::move(end);
  }

  std::string job_;
  json header_, end_;
  std::map<int, RankLeft> ranks_;
  int64_t damaged_ = 0;
};

}  // namespace

Result<std::string> report_of_logs(const std::vector<std::string>& files) {
  try {
    Logs logs;
    for (const std::string& file : files)
      if (const Status added = logs.add(file); !added) return tl::unexpected(added.error());
    return logs.report();
  } catch (const json::exception& error) {
    return fail(EINVAL, "has lines that no haichi of this version writes: {}", error.what());
  }
}

}  // namespace haichi::report
