#include "record/sequence_json.h"

#include <errno.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "record/json_fields.h"

namespace haichi::record {
namespace {

using nlohmann::json;
using Out = std::back_insert_iterator<std::string>;

// A loop doubles at least what is in it, so more than these are no recorder's.
constexpr int kDeepest = 100;

void put_number(Out out, const char* key, int64_t value, int64_t absent = -1) {
  if (value != absent) fmt::format_to(out, ",\"{}\":{}", key, value);
}

// A rank or a tag: a number, or any.
void put_or_any(Out out, const char* key, int value, int absent, int any) {
  if (value == absent) return;
  if (value == any)
    fmt::format_to(out, ",\"{}\":\"any\"", key);
  else
    fmt::format_to(out, ",\"{}\":{}", key, value);
}

void put_event(Out out, const Event& event) {
  fmt::format_to(out, "{{\"call\":{}", quoted(event.call));
  put_number(out, "bytes", event.bytes);
  put_number(out, "comm", event.comm);
  put_or_any(out, "peer", event.peer, -1, kAnyRank);
  put_or_any(out, "tag", event.tag, 0, kAnyTag);
  put_number(out, "root", event.root);
  put_number(out, "request", event.request);
  put_or_any(out, "from", event.from, -1, kAnyRank);
  put_number(out, "from_bytes", event.from_bytes);
  put_or_any(out, "from_tag", event.from_tag, 0, kAnyTag);
  put_number(out, "file", event.file);
  put_number(out, "window", event.window);
  put_number(out, "received", event.received);
  if (!event.completes.empty())
    fmt::format_to(out, ",\"completes\":[{}]", fmt::join(event.completes, ","));
  fmt::format_to(out, ",\"compute_s\":{:.6g},\"took_s\":{:.6g}", event.compute_s, event.took_s);
  if (event.compute_most_s > 0)
    fmt::format_to(out, ",\"compute_most_s\":{:.6g}", event.compute_most_s);
  fmt::format_to(out, "}}");
}

void put_body(Out out, const std::vector<Item>& body) {
  const char* comma = "";
  for (const Item& item : body) {
    fmt::format_to(out, "{}", comma);
    comma = ",";
    const bool loop = item.event < 0 || item.times != 1;
    if (loop) fmt::format_to(out, "[{},[", item.times);
    if (item.event >= 0)
      fmt::format_to(out, "{}", item.event);
    else
      put_body(out, item.body);
    if (loop) fmt::format_to(out, "]]");
  }
}

int rank_or_any(Fields& fields, const char* key, int ranks) {
  return fields.raw(key) == "any" ? kAnyRank : fields.small(key, -1, 0, ranks - 1);
}

int tag_or_any(Fields& fields, const char* key) {
  return fields.raw(key) == "any" ? kAnyTag : fields.small(key, 0);
}

Event read_event(const json& object, size_t index, int ranks, Status& status) {
  Fields fields(object, fmt::format("events[{}].", index), status);
  Event event;
  event.call = fields.needs("call").text("call");
  event.bytes = fields.whole("bytes", -1);
  event.comm = fields.small("comm", -1);
  event.peer = rank_or_any(fields, "peer", ranks);
  event.tag = tag_or_any(fields, "tag");
  event.root = fields.small("root", -1, 0, ranks - 1);
  event.request = fields.small("request", -1);
  event.from = rank_or_any(fields, "from", ranks);
  event.from_bytes = fields.whole("from_bytes", -1);
  event.from_tag = tag_or_any(fields, "from_tag");
  event.file = fields.small("file", -1);
  event.window = fields.small("window", -1);
  event.received = fields.whole("received", -1);
  event.completes = fields.smalls("completes");
  event.compute_s = fields.number("compute_s");
  event.took_s = fields.number("took_s");
  event.compute_most_s = fields.number("compute_most_s");
  return event;
}

// Of json: an array [times, [...]] whose times are at least 1.
bool is_loop(const json& value) {
  return value.is_array() && value.size() == 2 && value[0].is_number_unsigned() &&
         value[0].get<uint64_t>() > 0 && value[1].is_array();
}

Result<std::vector<Item>> read_body(const json& list, size_t events, int depth) {
  if (depth > kDeepest) return fail(EINVAL, "program nests deeper than {} loops", kDeepest);
  std::vector<Item> body;
  body.reserve(list.size());
  for (const json& value : list) {
    Item item;
    if (is_loop(value)) {
      item.times = value[0].get<uint64_t>();
      auto inner = read_body(value[1], events, depth + 1);
      if (!inner) return inner;
      item.body = std::move(*inner);
    } else {
      const auto number = whole_number(value);
      if (!number || *number < 0 || size_t(*number) >= events)
        return fail(EINVAL,
                    "program takes numbers of its {} events, from 0, and loops [times, [...]], not "
                    "{}",
                    events, shown(value));
      item.event = *number;
    }
    body.push_back(std::move(item));
  }
  return body;
}

}  // namespace

std::string sequence_line(int rank, const Sequence& sequence) {
  std::string text =
      fmt::format(R"({{"kind":"sequence","rank":{},"cut":{},"events":[)", rank, sequence.cut);
  const Out out(text);
  for (size_t i = 0; i < sequence.events.size(); ++i) {
    if (i > 0) text += ',';
    put_event(out, sequence.events[i]);
  }
  text += "],\"program\":[";
  put_body(out, sequence.program);
  return text + "]}";
}

Result<Sequence> read_sequence(const json& line, int ranks) {
  Status status;
  Fields fields(line, "", status);
  Sequence sequence;
  sequence.cut = fields.flag("cut");
  const json& events = fields.needs("events").raw("events");
  const json& program = fields.needs("program").raw("program");
  if (!events.is_array()) fields.wrong("events", "a list of objects");
  if (!program.is_array()) fields.wrong("program", "a list of numbers and loops");
  for (size_t i = 0; status && i < events.size(); ++i)
    sequence.events.push_back(read_event(events[i], i, ranks, status));
  if (!status) return tl::unexpected(status.error());
  auto body = read_body(program, sequence.events.size(), 0);
  if (!body) return tl::unexpected(body.error());
  sequence.program = std::move(*body);
  return sequence;
}

}  // namespace haichi::record
