#include "collectives/exchange_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace haichi::collectives {

std::string ExchangeKey::text() const {
  return fmt::format("two-phase {}, {} aggregator{}, messages from {} bytes{}",
                     writing ? "write" : "read", aggregators, aggregators == 1 ? "" : "s",
                     int64_t{1} << message_bin, streams ? " together for a node" : "");
}

void ExchangeTuner::mix(uint64_t word) {
  told_ = (told_ ^ word) * 0x100000001b3;
  if (told_ == 0) told_ = 1;
}

void ExchangeTuner::start_with(std::vector<Decision> decisions) {
  earlier_ = std::move(decisions);
  for (const Decision& each : earlier_) {
    for (const char c : each.collective + '/' + each.chosen) mix(uint64_t(c));
    mix(uint64_t(each.size_bin));
    mix(std::bit_cast<uint64_t>(each.seconds));
  }
}

const TunedExchange* ExchangeTuner::find(const ExchangeKey& key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() ? nullptr : &known->second;
}

const TunedExchange& ExchangeTuner::begin(const ExchangeKey& key,
                                          std::vector<plan::OrderWindow> pairs) {
  const int count = int(pairs.size());
  TunedExchange tuned{std::move(pairs), Selection(count, rules_), false, 0, "by trial"};
  const Decision* const decision = find_decision(earlier_, key.text(), key.size_bin);
  for (int i = 0; decision != nullptr && i < count; ++i)
    if (tuned.pairs[size_t(i)].text() == decision->chosen) {
      tuned.selection = Selection::decided(count, i, decision->seconds, rules_);
      tuned.why = "decided in an earlier run";
    }
  return keys_.emplace(key, std::move(tuned)).first->second;
}

void ExchangeTuner::took(const ExchangeKey& key, double seconds, int64_t bytes) {
  TunedExchange& tuned = keys_.at(key);
  mix(uint64_t(key.size_bin) << 32 | uint64_t(key.message_bin) << 16 | uint64_t(key.writing));
  mix(std::bit_cast<uint64_t>(seconds));
  if (!tuned.warm) {
    tuned.warm = true;
    return;
  }
  tuned.seconds += seconds;
  tuned.selection.took_by_all(scaled_to_bin(seconds, bytes, key.size_bin));
}

std::string ExchangeTuner::why_next(const ExchangeKey& key) const {
  const TunedExchange& tuned = keys_.at(key);
  const Selection& selection = tuned.selection;
  if (tuned.pairs.size() == 1) return "no other would differ";
  if (selection.state() == Selection::State::trying)
    return !tuned.warm
               ? "as set, before trials"
               : fmt::format("trial {}, {} pairs", selection.calls() + 1, tuned.pairs.size());
  if (selection.calls() == 0 || tuned.why != "by trial") return std::string(tuned.why);
  std::string text = fmt::format("chosen by trial, {:.3g} ms", selection.seconds() * 1e3);
  if (selection.chosen() != 0)
    text +=
        fmt::format(" against {:.3g} ms of {}", selection.time_of(0) * 1e3, tuned.pairs[0].text());
  return text;
}

std::vector<Decision> ExchangeTuner::decided() const {
  std::vector<Decision> decisions;
  for (const auto& [key, tuned] : keys_) {
    const Selection& selection = tuned.selection;
    if (tuned.pairs.size() < 2 || selection.calls() == 0 ||
        selection.state() != Selection::State::locked)
      continue;
    decisions.push_back({key.text(), key.size_bin, tuned.pairs[size_t(selection.chosen())].text(),
                         selection.seconds()});
  }
  return decisions;
}

}  // namespace haichi::collectives
