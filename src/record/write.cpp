#include "record/write.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "record/sequence_json.h"

namespace haichi::record {
namespace {

using nlohmann::json;

constexpr size_t kMostPending = 1 << 18;  // bytes of lines before they are given on

/// Exact: 1500 ns are 0.0000015.
std::string seconds(int64_t ns) {
  std::string text = fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", std::abs(ns) / 1'000'000'000,
                                 std::abs(ns) % 1'000'000'000);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

template <class T, class Show>
std::string list_of(const std::vector<T>& items, Show show) {
  std::string text = "[";
  for (const T& item : items) {
    if (text.size() > 1) text += ',';
    text += show(item);
  }
  return text + "]";
}

/// The members of an object as text, without its kind and number.
std::string members_of(json object) {
  object.erase("kind");
  object.erase("id");
  const std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

template <class T>
void put_at(std::vector<T>& list, size_t index, T value) {
  if (index >= list.size()) list.resize(index + 1);
  list[index] = std::move(value);
}

std::string histogram_of(const Entry& entry) {
  const auto begin = std::begin(entry.histogram), end = std::end(entry.histogram);
  const auto some = [](uint32_t n) { return n != 0; };
  const auto first = std::find_if(begin, end, some);
  auto last = end;
  while (last != first && *std::prev(last) == 0) --last;
  const std::vector<uint32_t> counts(first, last);
  return fmt::format(R"({{"first":{},"counts":{}}})", first - begin,
                     list_of(counts, [](uint32_t n) { return fmt::to_string(n); }));
}

int in_record(int number, const std::vector<int32_t>& numbers) {
  return size_t(number) < numbers.size() ? numbers[size_t(number)] : -1;
}

void renumber(Sequence& sequence, const Numbers& numbers) {
  for (Event& event : sequence.events) {
    event.comm = in_record(event.comm, numbers.communicators);
    event.file = in_record(event.file, numbers.files);
  }
}

}  // namespace

PartText::PartText(const PartView& part) : part_(part) {
  std::string_view rest = part.text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    read_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  find_sites();
}

void PartText::read_line(std::string_view line) {
  json object = json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("kind") || !object["kind"].is_string()) return;
  const std::string kind = object["kind"];
  if (kind == "record") {
    record_line_ = line;
    return;
  }
  if (kind == "object") {
    objects_.push_back({object.value("begin", uint64_t{0}), object.value("end", uint64_t{0}),
                        object.value("bias", uint64_t{0}), object.value("path", "")});
    return;
  }
  const size_t number = object.value("id", size_t{Key::kNone});
  if (number >= Key::kNone) return;
  if (kind == "function") put_at<std::string>(functions_, number, object.value("name", ""));
  if (kind == "communicator")
    put_at(wanted_.communicators, number, members_of(std::move(object)));
  else if (kind == "file")
    put_at(wanted_.files, number, members_of(std::move(object)));
}

std::string PartText::site_at(uint64_t address) const {
  // The last one that had the address: objects are unloaded and others loaded in their place.
  for (auto object = objects_.rbegin(); object != objects_.rend(); ++object)
    if (address >= object->begin && address < object->end)
      return fmt::format(R"("object":{},"offset":{})", quoted(object->path),
                         address - object->bias);
  return fmt::format(R"("offset":{})", address);
}

void PartText::find_sites() {
  std::map<std::string, int32_t> known;
  for (const Entry& entry : part_.entries) {
    if (entry.key.site == 0 || site_of_address_.contains(entry.key.site)) continue;
    std::string site = site_at(entry.key.site);
    const auto [at, is_new] = known.try_emplace(site, int32_t(wanted_.sites.size()));
    if (is_new) wanted_.sites.push_back(std::move(site));
    site_of_address_[entry.key.site] = at->second;
  }
}

std::string PartText::rank_line() const {
  const Head& head = *part_.head;
  const int64_t wall = head.finalized ? head.wall_ns : head.last_ns - head.started_ns;
  std::string line =
      fmt::format(R"({{"kind":"rank","rank":{},"wall_s":{},"mpi_s":{},"compute_s":{})", head.rank,
                  seconds(wall), seconds(head.mpi_ns), seconds(head.compute_ns));
  if (head.finalized) line += fmt::format(R"(,"cpu_s":{})", seconds(head.cpu_ns));
  line += fmt::format(R"(,"calls":{},"finalized":{},"full":{},"calls_without_key":{})", head.calls,
                      head.finalized != 0, head.full != 0, head.calls_without_key);
  if (head.requests_lost > 0) line += fmt::format(R"(,"requests_lost":{})", head.requests_lost);
  if (head.traffic_full) line += R"(,"traffic_full":true)";
  return line + "}\n";
}

std::string PartText::call_line(const Entry& entry, const Numbers& numbers) const {
  const Key& key = entry.key;
  const auto function = [&](uint16_t number) {
    return number < functions_.size() ? functions_[number] : std::string("unknown");
  };
  std::string line = fmt::format(R"({{"kind":"call","ranks":"{}","function":"{}")",
                                 part_.head->rank, function(key.function));
  const auto add = [&]<class... A>(fmt::format_string<A...> text, A&&... args) {
    fmt::format_to(std::back_inserter(line), text, std::forward<A>(args)...);
  };
  if (key.began == Key::kMixed) add(R"(,"for":"mixed")");
  if (key.began < Key::kMixed) add(R"(,"for":"{}")", function(key.began));
  if (key.bytes != Key::kNoBytes) add(R"(,"bytes":{})", key.bytes);
  if (const char* type = name_of(key.type)) add(R"(,"type":"{}")", type);
  if (key.comm < numbers.communicators.size())
    add(R"(,"comm":{})", numbers.communicators[key.comm]);
  if (const char* place = name_of(key.place)) add(R"(,"place":"{}")", place);
  if (key.type != Shape::none) add(R"(,"first_use":{})", key.first_use);
  if (key.file < numbers.files.size()) add(R"(,"file":{})", numbers.files[key.file]);
  if (const char* view = name_of(key.view)) add(R"(,"view":"{}")", view);
  if (const auto site = site_of_address_.find(key.site);
      site != site_of_address_.end() && size_t(site->second) < numbers.sites.size())
    add(R"(,"site":{})", numbers.sites[size_t(site->second)]);
  add(R"(,"count":{},"first_s":{},"total_s":{},"least_s":{},"most_s":{})", entry.count,
      seconds(entry.first_ns), seconds(entry.total_ns), seconds(entry.least_ns),
      seconds(entry.most_ns));
  if (entry.wait_ns > 0) add(R"(,"wait_s":{})", seconds(entry.wait_ns));
  return line + R"(,"histogram":)" + histogram_of(entry) + "}\n";
}

std::string PartText::traffic_line(uint32_t one_sided) const {
  std::vector<const Sent*> sent;
  for (const Sent& each : part_.sent)
    if (each.messages > 0 && each.one_sided == one_sided) sent.push_back(&each);
  if (sent.empty()) return "";
  std::sort(sent.begin(), sent.end(),
            [](const Sent* a, const Sent* b) { return a->peer < b->peer; });
  return fmt::format(R"({{"kind":"traffic","rank":{},"way":"{}","to":{},"messages":{},"bytes":{}}})"
                     "\n",
                     part_.head->rank, one_sided ? "one-sided" : "message",
                     list_of(sent, [](const Sent* s) { return fmt::to_string(s->peer); }),
                     list_of(sent, [](const Sent* s) { return fmt::to_string(s->messages); }),
                     list_of(sent, [](const Sent* s) { return fmt::to_string(s->bytes); }));
}

bool PartText::write(const Numbers& numbers, const Sink& sink, Sequence* sequence) const {
  std::string pending = rank_line();
  for (const Entry& entry : part_.entries) {
    if (entry.count == 0) continue;  // cut off while it was made
    pending += call_line(entry, numbers);
    if (pending.size() < kMostPending) continue;
    if (!sink(pending)) return false;
    pending.clear();
  }
  for (const uint32_t one_sided : {0u, 1u}) pending += traffic_line(one_sided);
  if (sequence != nullptr) {
    renumber(*sequence, numbers);
    pending += sequence_line(part_.head->rank, *sequence) + "\n";
  }
  return sink(pending);
}

bool SharedNumbers::give_kind(const char* kind, const std::vector<std::string>& wanted,
                              Known& known, std::vector<int32_t>& numbers, const Sink& sink) {
  std::string lines;
  for (const std::string& what : wanted) {
    const auto [at, is_new] = known.try_emplace(what, int32_t(known.size()));
    numbers.push_back(at->second);
    if (is_new && !what.empty())
      lines += fmt::format("{{\"kind\":\"{}\",\"id\":{},{}}}\n", kind, at->second, what);
  }
  return lines.empty() || sink(lines);
}

bool SharedNumbers::give(const Wanted& wanted, Numbers& numbers, const Sink& sink) {
  return give_kind("communicator", wanted.communicators, communicators_, numbers.communicators,
                   sink) &&
         give_kind("file", wanted.files, files_, numbers.files, sink) &&
         give_kind("site", wanted.sites, sites_, numbers.sites, sink);
}

std::string to_text(const Wanted& wanted) {
  std::string text;
  const auto add = [&](char kind, const std::vector<std::string>& list) {
    for (const std::string& each : list) text.append(1, kind).append(each).append(1, '\n');
  };
  add('c', wanted.communicators);
  add('f', wanted.files);
  add('s', wanted.sites);
  return text;
}

Wanted from_text(std::string_view text) {
  Wanted wanted;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string what(text.substr(1, end > 0 ? end - 1 : 0));
    if (text[0] == 'c') wanted.communicators.push_back(what);
    if (text[0] == 'f') wanted.files.push_back(what);
    if (text[0] == 's') wanted.sites.push_back(what);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wanted;
}

std::string end_line(int ranks, int64_t calls) {
  return fmt::format("{{\"kind\":\"end\",\"ranks\":{},\"calls\":{}}}\n", ranks, calls);
}

}  // namespace haichi::record
