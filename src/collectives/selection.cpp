#include "collectives/selection.h"

#include <algorithm>
#include <cmath>

namespace haichi::collectives {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Selection::Selection(int candidates, SelectionRules rules) : rules_(std::move(rules)) {
  trials_.resize(size_t(candidates));
  begin_trials();
  if (candidates > 1) return;
  state_ = State::locked;
  chosen_ = 0;
  check_after_ = 0;  // nothing else to turn to
}

Selection Selection::decided(int candidates, int chosen, double seconds, SelectionRules rules) {
  Selection selection(candidates, std::move(rules));
  selection.state_ = State::locked;
  selection.chosen_ = chosen;
  selection.locked_seconds_ = seconds;
  selection.trials_[size_t(chosen)].seconds = {seconds};
  selection.check_after_ = candidates > 1 ? selection.rules_.first_check : 0;
  selection.ballot_.clear();
  return selection;
}

void Selection::begin_trials() {
  state_ = State::trying;
  round_ = agreements_ = 0;
  for (Trials& trials : trials_) trials = {};
  begin_rounds();
}

// An agreement costs about what a call of few bytes does, so they become rarer: after 1, 2, 5, 12,
// ... rounds. Every round begins with another candidate, so that none always follows the same one.
void Selection::begin_rounds() {
  std::vector<int> left;
  for (int i = 0; i < int(trials_.size()); ++i)
    if (!trials_[size_t(i)].dropped) left.push_back(i);
  const int end = round_ < rules_.rounds
                      ? std::min(rules_.rounds, round_ + std::max(1, round_ + round_ / 2))
                      : round_ + rules_.rounds;
  turn_.clear();
  for (int round = round_; round < end; ++round)
    for (size_t i = 0; i < left.size(); ++i)
      turn_.push_back(left[(i + size_t(round)) % left.size()]);
  round_ = end;
  ballot_.clear();
}

int Selection::next() const { return state_ == State::locked ? chosen_ : turn_[ballot_.size()]; }

bool Selection::took(double seconds) {
  ++calls_;
  if (state_ == State::trying) {
    ballot_.push_back(seconds);
    return ballot_.size() == turn_.size();
  }
  if (check_after_ == 0) return false;
  spent_ += seconds;
  if (++since_check_ < check_after_) return false;
  ballot_ = {spent_ / double(since_check_)};
  return true;
}

void Selection::agree(std::span<const double> mean) {
  state_ == State::trying ? finish_rounds(mean) : look_for_drift(mean[0]);
}

double Selection::time_of(int candidate) const {
  return median(trials_[size_t(candidate)].seconds);
}

void Selection::finish_rounds(std::span<const double> mean) {
  for (size_t i = 0; i < turn_.size(); ++i) trials_[size_t(turn_[i])].seconds.push_back(mean[i]);
  const bool several = drop_the_slow();
  ++agreements_;
  if (several && (round_ < rules_.rounds || goes_on())) return begin_rounds();
  if (!trials_[0].dropped && time_of(chosen_) > rules_.worth * time_of(0)) chosen_ = 0;
  state_ = State::locked;
  locked_seconds_ = time_of(chosen_);
  since_check_ = 0;
  spent_ = 0;
  check_after_ = rules_.first_check;
  ballot_.clear();
}

// Finds the best so far. True if others are left beside it.
bool Selection::drop_the_slow() {
  chosen_ = turn_[0];
  for (const int candidate : turn_)
    if (time_of(candidate) < time_of(chosen_)) chosen_ = candidate;
  double factor = rules_.drop[std::min(size_t(agreements_), rules_.drop.size() - 1)];
  if (agreements_ > 0 && std::isfinite(factor))
    factor = std::min(factor, std::max(rules_.least, 1 + rules_.spread * trials_differ_by()));
  bool several = false;
  for (const int candidate : turn_) {
    Trials& trials = trials_[size_t(candidate)];
    const double best = *std::min_element(trials.seconds.begin(), trials.seconds.end());
    const double most = candidate == 0 ? std::max(factor, 1 / rules_.worth) : factor;
    trials.dropped = candidate != chosen_ && best > most * time_of(chosen_);
    several |= candidate != chosen_ && !trials.dropped;
  }
  return several;
}

double Selection::trials_differ_by() const {
  std::vector<double> ratios;
  for (const Trials& trials : trials_) {
    if (trials.dropped) continue;
    const auto [least, most] = std::minmax_element(trials.seconds.begin(), trials.seconds.end());
    ratios.push_back(*least > 0 ? *most / *least : 1);
  }
  return median(std::move(ratios)) - 1;
}

// Whether there are more rounds than was meant, and others left beside the best.
bool Selection::goes_on() {
  if (std::isinf(rules_.drop.back()) || round_ >= rules_.longest * rules_.rounds) return false;
  const double in_doubt = doubt();
  return in_doubt > rules_.sure && drop_beyond(in_doubt);
}

// The standard error of a candidate's median, as a share of it: 1.25 deviations by the root of
// their number. The deviation is told by the quartiles, 1.3 deviations apart: a call that was
// disturbed once is none of their business.
double Selection::doubt() const {
  std::vector<double> errors;
  for (const Trials& trials : trials_) {
    if (trials.dropped) continue;
    std::vector<double> sorted = trials.seconds;
    std::ranges::sort(sorted);
    const size_t n = sorted.size(), quarter = n / 4;
    const double apart = sorted[n - 1 - quarter] - sorted[quarter];
    errors.push_back(sorted[n / 2] > 0 ? apart / sorted[n / 2] / std::sqrt(double(n)) : 0);
  }
  return median(std::move(errors));
}

// Drops those whose medians are slower than the best by more than two such errors. True if others
// are left beside it.
bool Selection::drop_beyond(double doubt) {
  bool several = false;
  for (int i = 0; i < int(trials_.size()); ++i) {
    Trials& trials = trials_[size_t(i)];
    if (i == chosen_ || trials.dropped) continue;
    trials.dropped = time_of(i) > (1 + 2 * doubt) * time_of(chosen_);
    several |= !trials.dropped;
  }
  return several;
}

void Selection::look_for_drift(double mean) {
  since_check_ = 0;
  spent_ = 0;
  ballot_.clear();
  if (mean > rules_.drift * locked_seconds_) {
    ++retries_;
    return begin_trials();
  }
  check_after_ *= 2;
}

}  // namespace haichi::collectives
