#include "collectives/way_tuner.h"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/size_bin.h"

namespace haichi::collectives {

std::string WayKey::text() const {
  const int64_t pieces = int64_t{1} << pieces_bin, ranks = int64_t{1} << ranks_bin;
  return fmt::format("file {}, from {} piece{} that {}, from {} rank{}", writing ? "write" : "read",
                     pieces, pieces == 1 ? "" : "s", apart ? "lie apart" : "interleave", ranks,
                     ranks == 1 ? "" : "s");
}

void WayTuner::begin(const WayKey& key, const std::vector<WayCandidate>& candidates) {
  if (keys_.size() >= kMostKeys && !keys_.contains(key)) return;
  const int count = int(candidates.size());
  TunedWay tuned{{}, Selection(count, rules_), "by trial"};
  std::vector<double> expected;
  for (const WayCandidate& each : candidates) {
    tuned.ways.push_back(each.way);
    expected.push_back(each.expected);
  }
  tuned.selection.expect(std::move(expected));
  const Decision* const decision = find_decision(earlier_, key.text(), key.size_bin);
  for (int i = 0; decision != nullptr && i < count; ++i)
    if (name(tuned.ways[size_t(i)]) == decision->chosen) {
      tuned.selection = Selection::decided(count, i, decision->seconds, rules_);
      tuned.why = "decided in an earlier run";
    }
  keys_.insert_or_assign(key, std::move(tuned));
}

std::optional<int> WayTuner::next(const WayKey& key, int model) const {
  const auto known = keys_.find(key);
  if (known == keys_.end() || known->second.ways[0] != model) return std::nullopt;
  const TunedWay& tuned = known->second;
  return tuned.ways[size_t(tuned.selection.next())];
}

void WayTuner::took(const WayKey& key, double seconds, int64_t bytes) {
  const auto known = keys_.find(key);
  if (known == keys_.end()) return;
  known->second.selection.took_by_all(scaled_to_bin(seconds, bytes, key.size_bin));
}

bool WayTuner::settled(const WayKey& key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() || known->second.selection.state() == Selection::State::locked;
}

bool WayTuner::tried(const TunedWay& tuned) {
  const auto& trials = tuned.selection.trials();
  return std::any_of(trials.begin() + 1, trials.end(), [](const Selection::Trials& each) {
    return each.first > 0 || !each.seconds.empty();
  });
}

std::string_view WayTuner::why_next(const WayKey& key) {
  const auto known = keys_.find(key);
  if (known == keys_.end() || known->second.ways.size() < 2) return "";
  TunedWay& tuned = known->second;
  const Selection& selection = tuned.selection;
  const int next = selection.next();
  if (selection.calls() == 0 && tuned.why != "by trial") return tuned.why;
  const bool trial = next != 0 && selection.chosen() != next;
  if (next == 0) return "";
  if (!trial && tuned.said_of == next && selection.calls() < tuned.said_until) return tuned.said;
  tuned.said_of = trial ? -1 : next;
  tuned.said_until = 2 * selection.calls();
  tuned.said = trial ? fmt::format("a trial, call {}", selection.calls() + 1)
                     : fmt::format("by trial: {:.3g} ms against {:.3g} ms of {}",
                                   selection.time_of(next) * 1e3, selection.time_of(0) * 1e3,
                                   name(tuned.ways[0]));
  return tuned.said;
}

std::vector<Decision> WayTuner::decided() const {
  std::vector<Decision> decisions;
  for (const auto& [key, tuned] : keys_) {
    const Selection& selection = tuned.selection;
    if (!tried(tuned) || selection.calls() == 0 || selection.state() != Selection::State::locked)
      continue;
    decisions.push_back({key.text(), key.size_bin, name(tuned.ways[size_t(selection.chosen())]),
                         selection.seconds()});
  }
  return decisions;
}

}  // namespace haichi::collectives
