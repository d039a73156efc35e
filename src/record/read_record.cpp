#include "record/read_record.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "placement/formats.h"
#include "record/json_fields.h"
#include "record/sequence_json.h"

namespace haichi::record {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "haichi.record/1";

Status read_head(const json& line, Record& record) {
  Status status;
  Fields fields(line, "", status);
  const std::string schema = fields.text("schema");
  if (fields.text("kind") != "record" || schema.empty())
    return fail(EINVAL, "this is no record of a run; `haichi run --record` writes one");
  if (schema != kSchema)
    return fail(EINVAL, "its schema is {}, and this haichi reads {}; record the program anew",
                shown(line["schema"]), kSchema);
  record.by = fields.text("by");
  record.started = fields.text("started");
  record.abi = fields.text("abi");
  record.program = fields.texts("program");
  record.ranks = fields.needs("ranks").small("ranks", 0, 1, placement::kMaxRanks);
  record.sync = fields.flag("sync");
  const json& signature = fields.raw("signature");
  if (!signature.is_null()) {
    Fields of(signature, "signature.", status);
    record.signature = {of.text("library"), of.text("processor"), of.small("cores", 0),
                        of.texts("node_names")};
  }
  if (!status) return status;
  record.sequences.resize(size_t(record.ranks));
  if (!fields.has("placement")) {
    record.placement = placement::block(1, record.ranks);
    record.notes.emplace_back("it does not say where the ranks were: all are taken for one node's");
    return {};
  }
  auto placement = placement::parse(fields.raw("placement").dump(), record.ranks);
  if (!placement) return fail(EINVAL, "placement: {}", placement.error().text);
  record.placement = std::move(*placement);
  return {};
}

// Of a grid; no more than counts.
int64_t places(const std::vector<int>& dims) {
  int64_t all = 1;
  for (const int each : dims) all = std::min(all * each, int64_t{placement::kMaxRanks} + 1);
  return all;
}

class Reader {
 public:
  explicit Reader(const Wanted& wanted) : wanted_(wanted) {}

  Result<Record> read(std::istream& in) {
    std::string text;
    for (; std::getline(in, text); ++number_) {
      const bool whole = !in.eof();  // a line without its newline may be cut off
      if (number_ > 1 && is_passed_over(text)) continue;
      auto line = parse_json(text);
      if (!line && number_ > 1 && is_last(in, whole)) {
        note("line {} is cut off: what comes before it is used", number_);
        return finished();
      }
      Status status = line ? take(*line) : tl::unexpected(line.error());
      if (!status) return fail(EINVAL, "line {}: {}", number_, status.error().text);
    }
    if (number_ == 1) return fail(EINVAL, "it is empty; `haichi run --record` writes a record");
    return finished();
  }

 private:
  // Without parsing it, as far as the line begins as haichi writes it.
  bool is_passed_over(std::string_view text) const {
    return text.empty() || (!wanted_.calls && text.starts_with(R"({"kind":"call")")) ||
           (!wanted_.traffic && text.starts_with(R"({"kind":"traffic")")) ||
           (!wanted_.sequences && text.starts_with(R"({"kind":"sequence")"));
  }

  static bool is_last(std::istream& in, bool whole) {
    return !whole || in.peek() == std::istream::traits_type::eof();
  }

  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    record_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status take(const json& line) {
    if (number_ == 1) return read_head(line, record_);
    Status status;
    Fields fields(line, "", status);
    const std::string kind = fields.needs("kind").text("kind");
    if (!status) return status;
    if (kind == "communicator") take_communicator(fields, status);
    if (kind == "file")
      record_.files.push_back({fields.needs("id").small("id", 0), fields.text("name")});
    if (kind == "site")
      record_.sites.push_back({fields.needs("id").small("id", 0), fields.text("object"),
                               uint64_t(fields.whole("offset", 0))});
    if (kind == "rank") take_times(fields);
    if (kind == "call" && wanted_.calls) take_calls(fields, status);
    if (kind == "traffic" && wanted_.traffic) take_traffic(fields, status);
    if (kind == "sequence" && wanted_.sequences) take_sequence(line, fields, status);
    if (kind == "end") record_.complete = true;
    return status;
  }

  int rank(Fields& fields) { return fields.needs("rank").small("rank", 0, 0, record_.ranks - 1); }

  void take_communicator(Fields& fields, Status& status) {
    Communicator made;
    made.id = fields.needs("id").small("id", 0);
    made.name = fields.text("name");
    made.members = fields.needs("members").rank_list("members", record_.ranks);
    made.remote = fields.rank_list("remote", record_.ranks);
    made.graph = fields.flag("graph");
    if (fields.has("cart")) {
      Fields cart(fields.raw("cart"), "cart.", status);
      made.dims = cart.needs("dims").smalls("dims", 1);
      made.periods = cart.needs("periods").flags("periods");
      if (made.dims.size() != made.periods.size()) cart.wrong("periods", "one for each of dims");
      if (places(made.dims) != int64_t(made.members.size()))
        cart.wrong("dims", "numbers whose product is the number of members");
    }
    record_.communicators.push_back(std::move(made));
  }

  void take_times(Fields& fields) {
    RankTimes made;
    made.rank = rank(fields);
    made.wall_s = fields.number("wall_s");
    made.mpi_s = fields.number("mpi_s");
    made.compute_s = fields.number("compute_s");
    made.cpu_s = fields.number("cpu_s");
    made.calls = uint64_t(fields.whole("calls", 0));
    made.calls_without_key = uint64_t(fields.whole("calls_without_key", 0));
    made.finalized = fields.flag("finalized", true);
    made.full = fields.flag("full");
    record_.times.push_back(made);
  }

  void take_calls(Fields& fields, Status& status) {
    Calls made;
    made.ranks = fields.needs("ranks").rank_list("ranks", record_.ranks);
    made.function = fields.needs("function").text("function");
    made.begun_by = fields.text("for");
    made.bytes = fields.whole("bytes", -1);
    made.type = fields.text("type");
    made.place = fields.text("place");
    made.view = fields.text("view");
    made.comm = fields.small("comm", -1);
    made.file = fields.small("file", -1);
    made.site = fields.small("site", -1);
    made.first_use = fields.flag("first_use");
    made.count = uint64_t(fields.needs("count").whole("count", 0));
    made.first_s = fields.number("first_s");
    made.total_s = fields.number("total_s");
    made.least_s = fields.number("least_s");
    made.most_s = fields.number("most_s");
    if (fields.has("wait_s")) made.wait_s = fields.number("wait_s");
    if (fields.has("histogram")) {
      Fields histogram(fields.raw("histogram"), "histogram.", status);
      made.histogram_first = histogram.small("first", 0);
      made.histogram = histogram.wholes("counts");
    }
    record_.calls.push_back(std::move(made));
  }

  void take_traffic(Fields& fields, Status& status) {
    Traffic made;
    made.rank = rank(fields);
    const std::string way = fields.text("way");
    made.one_sided = way == "one-sided";
    if (!made.one_sided && way != "message") fields.wrong("way", "message or one-sided");
    made.to = fields.smalls("to", 0, record_.ranks - 1);
    made.messages = fields.wholes("messages");
    made.bytes = fields.wholes("bytes");
    if (status && made.messages.size() != made.to.size())
      fields.wrong("messages", "one for each of to");
    if (status && made.bytes.size() != made.to.size()) fields.wrong("bytes", "one for each of to");
    record_.traffic.push_back(std::move(made));
  }

  void take_sequence(const json& line, Fields& fields, Status& status) {
    const int mine = rank(fields);
    if (!status) return;
    auto& place = record_.sequences[size_t(mine)];
    auto sequence = read_sequence(line, record_.ranks);
    if (!sequence) status = tl::unexpected(sequence.error());
    if (sequence && place) status = fail(EINVAL, "rank {} has a second sequence", mine);
    if (!status) return;
    place = std::move(*sequence);
    if (place->cut) ++cut_;
  }

  template <class Numbered>
  static Status sort(std::vector<Numbered>& all, std::string_view what) {
    const auto earlier = [](const auto& a, const auto& b) { return a.id < b.id; };
    std::stable_sort(all.begin(), all.end(), earlier);
    const auto alike = [](const auto& a, const auto& b) { return a.id == b.id; };
    const auto twice = std::adjacent_find(all.begin(), all.end(), alike);
    if (twice == all.end()) return {};
    return fail(EINVAL, "two {}s have the id {}; record the program anew", what, twice->id);
  }

  Result<Record> finished() {
    Status status = sort(record_.communicators, "communicator");
    if (status) status = sort(record_.files, "file");
    if (status) status = sort(record_.sites, "site");
    if (!status) return tl::unexpected(status.error());
    if (!record_.complete)
      note("it has no last line: the job was ended or the disk was full; what is there is used");
    if (cut_ > 0)
      note("memory was full: the sequences of {} of {} ranks end before the program did", cut_,
           record_.ranks);
    return std::move(record_);
  }

  const Wanted& wanted_;
  Record record_;
  int64_t number_ = 1;
  int cut_ = 0;
};

}  // namespace

const Communicator* Record::communicator(int id) const {
  const auto earlier = [](const Communicator& a, int b) { return a.id < b; };
  const auto found = std::lower_bound(communicators.begin(), communicators.end(), id, earlier);
  return found != communicators.end() && found->id == id ? &*found : nullptr;
}

Result<Record> read_record(std::istream& in, const Wanted& wanted) {
  return Reader(wanted).read(in);
}

Result<Record> read_record_file(const std::string& path, const Wanted& wanted) {
  errno = 0;
  std::ifstream in(path);
  if (!in) return fail(errno ? errno : ENOENT, "{}: {}", path, strerror(errno ? errno : ENOENT));
  auto record = read_record(in, wanted);
  if (!record) return fail(record.error().code, "{}: {}", path, record.error().text);
  return record;
}

}  // namespace haichi::record
