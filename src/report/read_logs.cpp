#include "report/read_logs.h"

#include <errno.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "placement/formats.h"
#include "report/log_form.h"
#include "report/log_records.h"
#include "report/part.h"
#include "report/record_json.h"
#include "trace/recorder.h"

namespace haichi::report {
namespace {

using nlohmann::json;

// The logs have had bounds of their own.
constexpr int64_t kMostBytes = int64_t{1} << 30;

/// What one rank has left.
struct RankLeft {
  Totals totals;
  json text;  // as rank_text() says it, but for its files
  std::vector<FileRecord> files;
  std::map<int64_t, std::string_view> words;  // packed, in the log's own text
  std::map<int64_t, CollectiveRecord> collectives;

  FileRecord& file(int64_t key) {
    for (FileRecord& each : files)
      if (each.key == key) return each;
    files.emplace_back().key = key;
    return files.back();
  }
};

/// Null if a frame is not a whole one with a JSON object.
json object_in(const TakenFrame& frame) {
  if (!frame.whole || frame.kind != FrameKind::text) return {};
  json object = json::parse(frame.payload, nullptr, false);
  return object.is_object() ? object : json();
}

class Logs {
 public:
  Status add(std::string_view file) {
    std::string_view place = file.substr(0, size_t(kHeadBytes));
    const json head = object_in(take_frame(place));
    if (head.is_null() || head.value("schema", "") != "haichi.log/2")
      return fail(EINVAL, "is no log of a run (haichi.log/2)");
    const std::string job = head.value("job", "");
    if (!job_.empty() && job != job_) return fail(EINVAL, "is of another run than the first log");
    job_ = job;
    const int node = head.value("node", 0);
    const LogLayout layout(head.value("first", int64_t{0}), head.value("share", int64_t{0}));
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
      const auto found = ranks_.find(rank);
      if (found == ranks_.end()) {
        missing.push_back(rank);
        continue;
      }
      RankLeft& left = found->second;
      last_s = std::max(last_s, double(left.totals.since_start_ns) * 1e-9);
      lost += left.totals.lost;
      for (const FileRecord& file : left.files) left.text["files"].push_back(to_json(file));
      for (const auto& [number, record] : left.collectives)
        left.text["collectives"].push_back(to_json(record));
      part.add_rank(text_of(left.text));
    }
    header_["program"]["wall_s"] = last_s;
    json cut = {{"last_s", last_s},
                {"ranks_without_log", placement::to_rank_list(missing)},
                {"records_lost", lost},
                {"records_damaged", damaged_}};
    for (const auto& [name, value] : end_.items())
      if (name != "at") cut[name] = value;
    return part.report(header_.dump(), cut.dump());
  }

 private:
  void add_rank(std::string_view part, int64_t size) {
    // Behind bytes that nobody has written, unless the records have reached it.
    if (int64_t(part.size()) > size - kEndBytes) {
      std::string_view end = part.substr(size_t(size - kEndBytes));
      if (json last = object_in(take_frame(end)); last.contains("by")) take_end(std::move(last));
      part = part.substr(0, size_t(size - kEndBytes));
    }
    const auto totals = totals_in(part.substr(0, size_t(2 * kTotalsBytes)));
    if (!totals) return;
    RankLeft& left = ranks_[totals->rank];
    left.totals = *totals;
    left.text = start_of(*totals);
    if (part.size() <= size_t(2 * kTotalsBytes)) return;
    part.remove_prefix(size_t(2 * kTotalsBytes));
    for (;;) {
      const TakenFrame frame = take_frame(part);
      damaged_ += !frame.whole || (frame.kind != FrameKind::none && !add_record(left, frame));
      if (frame.kind == FrameKind::none) return;
    }
  }

  /// The newer ones of both places.
  static std::optional<Totals> totals_in(std::string_view places) {
    std::optional<Totals> newer;
    for (const size_t begin : {size_t{0}, size_t(kTotalsBytes)}) {
      std::string_view place = places.substr(std::min(begin, places.size()));
      place = place.substr(0, size_t(kTotalsBytes));
      const TakenFrame frame = take_frame(place);
      Totals each;
      if (frame.whole && frame.kind == FrameKind::totals && unpack(frame.payload, each) &&
          each.rank >= 0 && (!newer || newer->shown < each.shown))
        newer = each;
    }
    return newer;
  }

  static json start_of(const Totals& totals) {
    json seconds, bytes;
    for (int p = 0; p < trace::kPhases; ++p) {
      const char* const name = name_of(trace::Phase(p));
      seconds[name] = double(totals.phase_ns[p]) / 1e9;
      if (trace::Phase(p) != trace::Phase::agree) bytes[name] = totals.phase_bytes[p];
    }
    return {{"rank", totals.rank},
            {"node", totals.node},
            {"seconds", seconds},
            {"bytes", bytes},
            {"collective_access", to_json(totals.accesses)},
            {"events", json::array()},
            {"events_dropped", 0},
            {"sent_to", json::array()},
            {"files", json::array()},
            {"collectives", json::array()},
            {"notes", json::object()}};
  }

  /// False if it says nothing that is known here.
  bool add_record(RankLeft& rank, const TakenFrame& frame) {
    if (!frame.whole) return true;  // counted already
    std::string_view bytes = frame.payload;
    int64_t number = 0;
    const bool numbered = frame.kind == FrameKind::words || frame.kind == FrameKind::collective ||
                          frame.kind == FrameKind::counts;
    if (numbered && !unpack_number(bytes, number)) return false;
    switch (frame.kind) {
      case FrameKind::text: {
        json object = object_in(frame);
        if (object.is_null()) return false;
        if (object.contains("report")) header_ = std::move(object["report"]);
        if (object.contains("note")) rank.text["notes"][object["note"].get<std::string>()] = 1;
        return true;
      }
      case FrameKind::words:
        rank.words[number] = bytes;
        return true;
      case FrameKind::file: {
        FileRecord said;
        if (!unpack_file(bytes, said)) return false;
        FileRecord& file = rank.file(said.key);
        said.calls = std::move(file.calls);
        said.calls_seen = std::max(said.calls_seen, file.calls_seen);
        file = std::move(said);
        return true;
      }
      case FrameKind::call:
        return add_call(rank, bytes);
      case FrameKind::collective:
        return unpack_collective(bytes, rank.collectives[number]);
      case FrameKind::counts: {
        const auto known = rank.collectives.find(number);
        return known != rank.collectives.end() && unpack_counts(bytes, known->second);
      }
      default:
        return false;
    }
  }

  static bool add_call(RankLeft& rank, std::string_view payload) {
    LoggedCall logged;
    if (!unpack_call(payload, logged)) return false;
    CallRecord& call = logged.call;
    const auto words = rank.words.find(logged.words);
    if (words == rank.words.end() || !unpack_words(words->second, call)) return false;
    FileRecord& file = rank.file(logged.key);
    file.calls_seen = std::max(file.calls_seen, call.index + 1);
    file.calls.push_back(std::move(call));
    return true;
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
