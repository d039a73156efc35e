#include "patterns/recorded.h"

#include <errno.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/os.h"
#include "patterns/pattern.h"
#include "placement/formats.h"
#include "plan/node_table.h"

namespace haichi::patterns {
namespace {

using Json = nlohmann::ordered_json;
using plan::Slice;
using plan::Step;

constexpr std::string_view kSchema = "haichi.schedule/1";

// By Step::Kind: its name, and which fields it has. What ranks tell their nodes is settled when a
// schedule is written down.
struct KindRow {
  std::string_view name;
  bool peer, from, to, file_begin;
};
constexpr KindRow kKinds[] = {
    {"send", true, true, false, false},       {"receive", true, false, true, false},
    {"copy", false, true, true, false},       {"file_read", false, false, true, true},
    {"file_write", false, true, false, true}, {"file_wait", false, false, false, false},
    {"wait", false, false, false, false},     {"node_meet", false, false, false, false},
    {"round", false, false, false, false},    {"node_arrive", false, false, false, false},
};

std::string as_line(int rank, const Step& step) {
  const KindRow& row = kKinds[size_t(step.kind)];
  const auto slice = [](const Slice& s) {
    return fmt::format("[{},{},{}]", s.buffer, s.begin, s.size);
  };
  std::string line =
      fmt::format(R"({{"rank":{},"step":"{}","round":{})", rank, row.name, step.round);
  if (row.peer) line += fmt::format(R"(,"peer":{})", step.peer);
  if (row.from) line += R"(,"from":)" + slice(step.from);
  if (row.to) line += R"(,"to":)" + slice(step.to);
  if (row.file_begin) line += fmt::format(R"(,"file_begin":{})", step.file_begin);
  return line + "}\n";
}

// Writes the steps of a node's ranks down, from meeting to meeting, so that what they tell each
// other is known when it is asked for.
class NodeScribe {
 public:
  NodeScribe(const std::vector<plan::Schedule*>& schedules, const placement::Placement& placement,
             std::string& text)
      : schedules_(schedules), placement_(placement), text_(text) {}

  Status write(int node) {
    const auto ranks = placement_.ranks_on(node);
    plan::OwnNodeTable table(int64_t(ranks.size()));
    std::vector<int> going(ranks.begin(), ranks.end());
    while (!going.empty()) {
      std::vector<int> met;
      for (const int rank : going) {
        const auto meets = write_to_meeting(rank, table);
        if (!meets) return tl::unexpected(meets.error());
        if (*meets) met.push_back(rank);
      }
      going = std::move(met);
    }
    return {};
  }

 private:
  // False at the end of the rank's schedule.
  Result<bool> write_to_meeting(int rank, plan::OwnNodeTable& table) {
    const int local = placement_.local_index(rank);
    for (Step step; schedules_[size_t(rank)]->next(step); step = {}) {
      if (++steps_ > kMostSteps)
        return fail(E2BIG, "more than {} steps: take fewer ranks, or less for each", kMostSteps);
      if (step.kind == Step::Kind::node_tell)
        table.tell(step.cell, local, step.number);
      else if (step.kind == Step::Kind::node_sum)
        *step.sum = table.sum(step.cell, local);
      else
        text_ += as_line(rank, step);
      if (step.kind == Step::Kind::node_meet) return true;
    }
    return false;
  }

  const std::vector<plan::Schedule*>& schedules_;
  const placement::Placement& placement_;
  std::string& text_;
  int64_t steps_ = 0;
};

// A whole number of the object, from `least` on.
bool take(const Json& object, const char* key, int64_t least, int64_t most, int64_t& to) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return false;
  to = found->get<int64_t>();
  return to >= least && to <= most;
}

bool take_slice(const Json& object, const char* key, Slice& to) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() != 3) return false;
  for (const Json& each : *found)
    if (!each.is_number_integer()) return false;
  to = {(*found)[0].get<int>(), (*found)[1].get<int64_t>(), (*found)[2].get<int64_t>()};
  return true;
}

// Empty, or the field that is missing or wrong.
std::string read_step(const Json& object, int64_t ranks, int64_t& rank, Step& step) {
  if (!take(object, "rank", 0, ranks - 1, rank)) return "rank";
  const auto name = object.value("step", Json());
  const auto row = std::find_if(std::begin(kKinds), std::end(kKinds),
                                [&](const KindRow& each) { return name == each.name; });
  if (row == std::end(kKinds)) return "step";
  step.kind = Step::Kind(row - std::begin(kKinds));
  if (!take(object, "round", 0, INT32_MAX, step.round)) return "round";
  int64_t peer = -1;
  if (row->peer && !take(object, "peer", 0, ranks - 1, peer)) return "peer";
  step.peer = int(peer);
  if (row->from && !take_slice(object, "from", step.from)) return "from";
  if (row->to && !take_slice(object, "to", step.to)) return "to";
  if (row->file_begin && !take(object, "file_begin", 0, INT64_MAX, step.file_begin))
    return "file_begin";
  return "";
}

// What the lines of one rank say.
class Replay : public plan::Schedule {
 public:
  Replay(const std::vector<Step>& steps, int window) : steps_(steps), window_(window) {}
  bool next(Step& step) override {
    if (at_ == steps_.size()) return false;
    step = steps_[at_++];
    return true;
  }
  int max_outstanding() const override { return window_; }

 private:
  const std::vector<Step>& steps_;
  const int window_;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> record(const std::vector<plan::Schedule*>& schedules,
                           const placement::Placement& placement) {
  const int window = schedules.empty() ? 0 : schedules[0]->max_outstanding();
  for (size_t r = 0; r < schedules.size(); ++r)
    if (schedules[r]->max_outstanding() != window)
      return fail(EINVAL, "ranks 0 and {} have different windows", r);
  std::string text = fmt::format("{{\"schema\":\"{}\",\"ranks\":{},\"window\":{}}}\n", kSchema,
                                 schedules.size(), window);
  NodeScribe scribe(schedules, placement, text);
  for (int node = 0; node < placement.nodes(); ++node)
    if (auto done = scribe.write(node); !done) return tl::unexpected(done.error());
  return text;
}

Result<Record> read_record(std::string_view text) {
  Record record;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) return fail(EINVAL, "line {}: not a JSON object", number);
    int64_t ranks = int64_t(record.steps.size()), rank = 0, window = 0;
    if (number == 1) {
      if (object.value("schema", Json()) != kSchema)
        return fail(EINVAL, "line 1: no \"schema\": \"{}\"", kSchema);
      if (!take(object, "ranks", 1, placement::kMaxRanks, ranks))
        return fail(EINVAL, "line 1: ranks is missing or wrong");
      if (!take(object, "window", 0, INT32_MAX, window))
        return fail(EINVAL, "line 1: window is missing or wrong");
      record.window = int(window);
      record.steps.resize(size_t(ranks));
      continue;
    }
    Step step;
    const std::string wrong = read_step(object, ranks, rank, step);
    if (!wrong.empty()) return fail(EINVAL, "line {}: {} is missing or wrong", number, wrong);
    record.steps[size_t(rank)].push_back(step);
  }
  if (record.steps.empty()) return fail(EINVAL, "no ranks");
  return record;
}

Result<Job> recorded(const Case& of) {
  if (of.parameters.file.empty()) return fail(EINVAL, "schedule takes a file: a recorded schedule");
  const auto text = read_file(of.parameters.file);
  if (!text) return tl::unexpected(text.error());
  auto record = read_record(*text);
  if (!record) return fail(EINVAL, "{}: {}", of.parameters.file, record.error().text);
  if (record->steps.size() != size_t(of.placement.ranks()))
    return fail(EINVAL, "{}: {} ranks, and the placement has {}", of.parameters.file,
                record->steps.size(), of.placement.ranks());
  const auto base = std::make_shared<const Record>(*std::move(record));
  Job job;
  job.base = base;
  for (const auto& steps : base->steps)
    job.schedules.push_back(std::make_unique<Replay>(steps, base->window));
  return job;
}

}  // namespace haichi::patterns
