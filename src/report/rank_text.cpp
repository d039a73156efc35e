#include "report/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/record_json.h"

namespace haichi::report {
namespace {

using nlohmann::json;

template <class Record>
json list_of(const KeptRecords<Record>& kept) {
  json list = json::array();
  for (const Record& record : kept.records) list.push_back(to_json(record));
  return list;
}

json to_json(const StorageRecord& storage) {
  return {{"ranks", 1},
          {"read", storage.read},
          {"written", storage.written},
          {"mpi_read", storage.mpi_read},
          {"mpi_written", storage.mpi_written}};
}

json to_json(const RankRecord& record) {
  const trace::Recorder& r = record.recorder;
  json seconds, bytes, events = json::array();
  for (int p = 0; p < trace::kPhases; ++p) {
    const auto phase = trace::Phase(p);
    seconds[name_of(phase)] = double(r.total_ns(phase)) / 1e9;
    if (phase != trace::Phase::agree) bytes[name_of(phase)] = r.total_bytes(phase);
  }
  for (const trace::Event& e : r.events())
    events.push_back({e.call, e.cycle, name_of(e.phase), double(e.begin_ns) / 1e3,
                      double(e.end_ns) / 1e3, e.bytes});
  json result = {{"collectives", list_of(record.collectives)},
                 {"rank", record.rank},
                 {"node", record.node},
                 {"seconds", seconds},
                 {"bytes", bytes},
                 {"collective_access", to_json(record.accesses)},
                 {"events", std::move(events)},
                 {"events_dropped", r.dropped()},
                 {"sent_to", r.sent_to()},
                 {"files", list_of(record.files)},
                 {"notes", record.notes}};
  if (record.storage) result["storage"] = to_json(*record.storage);
  for (const MessageRecord& m : record.messages.records)
    result["messages"].push_back({m.call, m.cycle, m.to, double(m.at_ns) / 1e3, m.bytes});
  for (const ExchangeSpan& e : record.exchanges.records)
    result["exchanges"].push_back(
        {e.collective, double(e.begin_ns) / 1e3, double(e.end_ns) / 1e3, e.block_bytes});
  if (record.messages.not_listed > 0) result["messages_dropped"] = record.messages.not_listed;
  if (record.exchanges.not_listed > 0) result["exchanges_dropped"] = record.exchanges.not_listed;
  return result;
}

// What a rank without events takes, and the numbers of the calls that they are of.
constexpr int64_t kEntryBytes = 448;

/// Leaves out those rows of a list that have no room, and counts them. Returns what is left of it.
int64_t keep_rows(json& rank, const std::string& list, int64_t room) {
  const auto found = rank.find(list);
  if (found == rank.end()) return room;
  json& rows = *found;
  size_t kept = 0;
  for (; kept < rows.size(); ++kept) {
    const auto size = int64_t(rows[kept].dump().size()) + 1;
    if (size > room) break;
    room -= size;
  }
  if (kept == rows.size()) return room;
  const std::string dropped = list + "_dropped";
  rank[dropped] = rank.value(dropped, int64_t{0}) + int64_t(rows.size() - kept);
  rows.erase(rows.begin() + std::ptrdiff_t(kept), rows.end());
  rank["notes"][fmt::format("report.bytes: there is no room for all {} of a rank", list)] = 1;
  return room;
}

/// Messages and exchanges may have a part each, events the rest.
void keep_trace(json& rank, int64_t room) {
  const int64_t part = std::max<int64_t>(room / 4, 0);
  room -= part - keep_rows(rank, "messages", part);
  room -= part - keep_rows(rank, "exchanges", part);
  keep_rows(rank, "events", room);
}

}  // namespace

std::string rank_text(RankRecord record, const Bounds& bounds) {
  if (record.files.not_listed > 0)
    record.notes[fmt::format("more than {} files were opened; later ones are not listed",
                             kMostListed)] += record.files.not_listed;
  if (record.collectives.not_listed > 0)
    record.notes["collectives of more communicators and sizes than are listed"] +=
        record.collectives.not_listed;
  json all = to_json(record);
  keep_trace(all, bounds.of_a_rank() - kEntryBytes);
  return text_of(all);
}

}  // namespace haichi::report
