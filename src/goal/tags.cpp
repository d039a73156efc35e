#include "goal/tags.h"

#include <algorithm>

#include "replay/function.h"
#include "replay/stream.h"

namespace haichi::goal {

using record::kAnyRank;
using record::kAnyTag;
using replay::Kind;

Tags::Tags(const record::Record& record) {
  for (const auto& comm : record.communicators) numbers_[{comm.id, kCollectives}] = 0;
  for (const auto& sequence : record.sequences)
    if (sequence)
      for (const auto& event : sequence->events)
        if (event.comm >= 0)
          for (const int tag : {event.tag, event.from_tag}) numbers_[{event.comm, tag}] = 0;
  int next = 0;
  for (auto& [pair, number] : numbers_) number = next++;
}

namespace {

bool takes_from_any(const std::optional<record::Sequence>& sequence) {
  if (!sequence) return false;
  const auto& events = sequence->events;
  return std::any_of(events.begin(), events.end(), [](const record::Event& event) {
    return event.peer == kAnyRank || event.tag == kAnyTag || event.from == kAnyRank ||
           event.from_tag == kAnyTag;
  });
}

}  // namespace

Senders::Senders(const record::Record& record, int rank) {
  if (!takes_from_any(record.sequences[size_t(rank)])) return;
  std::map<std::tuple<int, int, int>, int64_t> sent;  // communicator, from, tag
  for (int from = 0; from < record.ranks; ++from) {
    const auto& sequence = record.sequences[size_t(from)];
    if (!sequence) continue;
    const auto times = replay::deliveries(*sequence);
    for (size_t i = 0; i < times.size(); ++i) {
      const auto& event = sequence->events[i];
      const Kind kind = replay::function_of(event.call).kind;
      const auto n = int64_t(times[i]);
      if ((kind == Kind::send || kind == Kind::exchange) && event.peer == rank)
        sent[{event.comm, from, event.tag}] += n;
      if (from != rank) continue;
      const bool receives = kind == Kind::receive, both = kind == Kind::exchange;
      const int source = both ? event.from : event.peer, tag = both ? event.from_tag : event.tag;
      if ((receives || both) && source >= 0 && tag != kAnyTag) sent[{event.comm, source, tag}] -= n;
    }
  }
  for (const auto& [key, messages] : sent)
    if (messages > 0)
      left_[std::get<0>(key)].push_back({{std::get<1>(key), std::get<2>(key)}, uint64_t(messages)});
}

Senders::Sender Senders::next(int comm, int from, int tag) {
  auto& left = left_[comm];
  const auto fits = [&](const Left& each) {
    return (from == kAnyRank || each.sender.rank == from) &&
           (tag == kAnyTag || each.sender.tag == tag);
  };
  const auto found = std::find_if(left.begin(), left.end(), fits);
  if (found == left.end()) return {};
  Left taken = *found;
  left.erase(found);
  if (--taken.messages > 0) left.push_back(taken);
  return taken.sender;
}

}  // namespace haichi::goal
