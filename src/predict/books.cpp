#include "predict/books.h"

#include <algorithm>
#include <array>

namespace haichi::predict {
namespace {

constexpr std::array<const char*, kWays + 1> kPlaceNames = {"self", "core",    "numa",
                                                            "node", "network", ""};

// What the rank stands in, in words.
std::string stands_in(const record::Event& event) {
  std::string text = event.call;
  if (event.peer == record::kAnyRank)
    text += " from any rank";
  else if (event.peer >= 0)
    text += fmt::format(" with rank {}", event.peer);
  if (event.peer != -1 && event.tag >= 0) text += fmt::format(", tag {}", event.tag);
  if (event.comm >= 0) text += fmt::format(", communicator {}", event.comm);
  return text;
}

}  // namespace

Books::Books(const Job& job) : ranks(job.sequences.size()), shapes_(job.sequences.size()) {
  functions_.emplace_back();  // computing
  for (size_t r = 0; r < job.sequences.size(); ++r) {
    const record::Sequence& sequence = *job.sequences[r];
    for (const record::Event& event : sequence.events) {
      const auto [at, is_new] = by_name_.try_emplace(event.call);
      if (is_new) {
        at->second = {call_of(event.call), int(functions_.size())};
        functions_.emplace_back().function = event.call;
      }
      shapes_[r].push_back(&at->second);
    }
  }
}

void Books::finish(const Strand& strand) {
  const sim::Time took = strand.clock - strand.began;
  for (Share* const share : {static_cast<Share*>(&functions_[size_t(strand.function)]),
                             static_cast<Share*>(&ranks[size_t(strand.rank)])}) {
    ++share->calls;
    share->waiting += strand.waiting;
    share->transfer += took - strand.waiting;
  }
}

// Of the ranks that did not get to their ends the first that has no problem of its own.
void Books::tell_stopped(const std::vector<Strand>& strands, const Job& job) {
  size_t stopped = 0;
  const Strand* first = nullptr;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const Strand& strand = strands[r];
    if (strand.phase == Strand::Phase::ended) continue;
    ranks[r].end = strand.clock;
    if (strand.phase == Strand::Phase::halted) continue;
    ++stopped;
    if (first == nullptr) first = &strand;
  }
  if (first == nullptr) return;
  const record::Sequence& its = *job.sequences[size_t(first->rank)];
  const bool cut = std::any_of(job.sequences.begin(), job.sequences.end(),
                               [](const auto* each) { return each->cut; });
  problem(
      fmt::format("rank {} waits in {} for what never comes, and {} of {} ranks do not get to "
                  "their ends{}",
                  first->rank, stands_in(its.events[size_t(first->event)]), stopped, ranks.size(),
                  cut ? ": sequences were cut off when memory was full" : ""));
}

Outcome Books::close(const std::vector<Strand>& strands, const Traffic& traffic, const Job& job,
                     const PathKeys& keys, const std::vector<std::string>& notes) {
  tell_stopped(strands, job);
  if (const Mailbox::Left left = traffic.mailbox().left(); left.count > 0 && problems_.empty())
    problem(left.envelope.comm < -1
                ? fmt::format("rank {} never comes to a collective call that rank {} made",
                              left.target, left.envelope.source)
                : fmt::format("rank {} never receives what rank {} sent with tag {}; {} such "
                              "messages",
                              left.target, left.envelope.source, left.envelope.tag, left.count));
  Outcome outcome;
  outcome.ranks = ranks;
  outcome.events = events;
  outcome.messages = traffic.messages();
  outcome.problems = problems_;
  outcome.notes = notes;
  for (size_t i = 1; i < functions_.size(); ++i) outcome.functions.push_back(functions_[i]);
  std::sort(outcome.functions.begin(), outcome.functions.end(), [](const auto& a, const auto& b) {
    return a.transfer + a.waiting > b.transfer + b.waiting;
  });
  const auto last = std::max_element(ranks.begin(), ranks.end(),
                                     [](const auto& a, const auto& b) { return a.end < b.end; });
  if (last == ranks.end()) return outcome;
  const auto& parts = strands[size_t(last - ranks.begin())].path.parts();
  for (size_t key = 0; key < parts.size(); ++key) {
    if (parts[key].time == 0 && parts[key].messages == 0) continue;
    const auto [function, place] = keys.pairs()[key];
    outcome.path.push_back(
        {parts[key], functions_[size_t(function)].function, kPlaceNames[size_t(place)]});
  }
  std::sort(outcome.path.begin(), outcome.path.end(),
            [](const auto& a, const auto& b) { return a.time > b.time; });
  return outcome;
}

}  // namespace haichi::predict
