#include "replay/stream.h"

#include <algorithm>
#include <map>

#include "record/saturating.h"
#include "replay/function.h"

namespace haichi::replay {
namespace {

using record::Item;
using record::plus;
using record::times;

void count_events(const std::vector<Item>& body, uint64_t rounds, std::vector<uint64_t>& counts) {
  for (const Item& item : body) {
    const uint64_t each = times(rounds, item.times);
    if (item.event < 0)
      count_events(item.body, each, counts);
    else
      counts[size_t(item.event)] = plus(counts[size_t(item.event)], each);
  }
}

std::vector<Item> only(const std::vector<Item>& body, const std::vector<bool>& chosen) {
  std::vector<Item> kept;
  for (const Item& item : body) {
    if (item.event >= 0) {
      if (chosen[size_t(item.event)]) kept.push_back(item);
      continue;
    }
    auto inner = only(item.body, chosen);
    if (!inner.empty()) kept.push_back({-1, item.times, std::move(inner)});
  }
  return kept;
}

// The hash of a run of tokens, t1 base^(n-1) + ... + tn modulo 2^64, its length, and base^n.
struct Run {
  uint64_t hash = 0, length = 0, power = 1;

  friend Run operator+(const Run& a, const Run& b) {
    return {a.hash * b.power + b.hash, plus(a.length, b.length), a.power * b.power};
  }
};

Run repeated(Run run, uint64_t rounds) {
  Run all;
  for (; rounds > 0; rounds /= 2) {
    if (rounds % 2 != 0) all = all + run;
    run = run + run;
  }
  return all;
}

Run of_token(uint64_t token) { return token == 0 ? Run{} : Run{token, 1, 0xd6e8feb86659fd93u}; }

Run run_of(const std::vector<Item>& body, const std::vector<uint64_t>& token_of) {
  Run all;
  for (const Item& item : body)
    all = all + repeated(item.event < 0 ? run_of(item.body, token_of)
                                        : of_token(token_of[size_t(item.event)]),
                         item.times);
  return all;
}

// Of the first `most` tokens.
Run prefix_of(const std::vector<Item>& body, const std::vector<uint64_t>& token_of, uint64_t most) {
  Run all;
  for (const Item& item : body) {
    const Run once =
        item.event < 0 ? run_of(item.body, token_of) : of_token(token_of[size_t(item.event)]);
    const uint64_t left = most - all.length;
    if (times(once.length, item.times) <= left) {
      all = all + repeated(once, item.times);
      continue;
    }
    const uint64_t rounds = left / once.length;
    all = all + repeated(once, rounds);
    if (item.event < 0) all = all + prefix_of(item.body, token_of, most - all.length);
    return all;
  }
  return all;
}

// What becomes of the requests that events make.
class Requests {
 public:
  explicit Requests(const record::Sequence& sequence)
      : started(sequence.events.size()), cancelled(sequence.events.size()), sequence_(sequence) {
    walk(sequence_.program, 1);
  }

  std::vector<uint64_t> started;  // how often, of persistent ones
  std::vector<bool> cancelled;    // some time

 private:
  void walk(const std::vector<Item>& body, uint64_t rounds) {
    for (const auto& item : body) {
      if (item.event < 0)
        walk(item.body, rounds * item.times);
      else
        look_at(item.event, rounds * item.times);
    }
  }

  void look_at(int number, uint64_t times) {
    const record::Event& event = sequence_.events[size_t(number)];
    const Kind kind = function_of(event.call).kind;
    if (event.request >= 0) made_by_[event.request] = number;
    const bool cancels = event.call == "MPI_Cancel";
    if (kind != Kind::start && kind != Kind::free_request && !cancels) return;
    for (const int slot : event.completes) {
      const auto made = made_by_.find(slot);
      if (made == made_by_.end()) continue;
      if (kind == Kind::start) started[size_t(made->second)] += times;
      if (cancels) cancelled[size_t(made->second)] = true;
      if (kind == Kind::free_request) made_by_.erase(made);
    }
  }

  const record::Sequence& sequence_;
  std::map<int, int> made_by_;  // slot -> event
};

}  // namespace

std::vector<uint64_t> occurrences(const record::Sequence& sequence) {
  std::vector<uint64_t> counts(sequence.events.size());
  count_events(sequence.program, 1, counts);
  return counts;
}

std::vector<uint64_t> deliveries(const record::Sequence& sequence) {
  std::vector<uint64_t> counts = occurrences(sequence);
  const auto starts = Requests(sequence).started;
  for (size_t i = 0; i < counts.size(); ++i)
    if (function_of(sequence.events[i].call).form == Form::persistent) counts[i] = starts[i];
  return counts;
}

std::vector<bool> cancelled_calls(const record::Sequence& sequence) {
  return Requests(sequence).cancelled;
}

std::vector<Item> only(const record::Sequence& sequence, const std::vector<bool>& chosen) {
  return only(sequence.program, chosen);
}

uint64_t count(const Stream& stream) { return run_of(*stream.program, stream.token_of).length; }

uint64_t common_prefix(std::span<const Stream> streams) {
  uint64_t shortest = record::kMostCalls;
  for (const Stream& stream : streams) shortest = std::min(shortest, count(stream));
  const auto agree = [&](uint64_t length) {
    const auto hash = [&](const Stream& stream) {
      return prefix_of(*stream.program, stream.token_of, length).hash;
    };
    return std::all_of(streams.begin(), streams.end(),
                       [&, first = hash(streams[0])](const Stream& s) { return hash(s) == first; });
  };
  if (streams.empty() || agree(shortest)) return streams.empty() ? 0 : shortest;
  uint64_t least = 0, most = shortest;  // they agree up to `least`, not up to `most`
  while (most - least > 1) {
    const uint64_t middle = least + (most - least) / 2;
    (agree(middle) ? least : most) = middle;
  }
  return least;
}

}  // namespace haichi::replay
