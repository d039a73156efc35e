#include "collectives/selection.h"

#include <algorithm>

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
  round_ = 0;
  for (Trials& trials : trials_) trials = {};
  begin_round();
}

// Every round begins with another candidate, so that none always follows the same one.
void Selection::begin_round() {
  turn_.clear();
  for (int i = 0; i < int(trials_.size()); ++i)
    if (!trials_[size_t(i)].dropped) turn_.push_back(i);
  std::rotate(turn_.begin(), turn_.begin() + round_ % int(turn_.size()), turn_.end());
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
  state_ == State::trying ? finish_round(mean) : look_for_drift(mean[0]);
}

double Selection::time_of(int candidate) const {
  return median(trials_[size_t(candidate)].seconds);
}

void Selection::finish_round(std::span<const double> mean) {
  for (size_t i = 0; i < turn_.size(); ++i) trials_[size_t(turn_[i])].seconds.push_back(mean[i]);
  chosen_ = turn_[0];
  for (const int candidate : turn_)
    if (time_of(candidate) < time_of(chosen_)) chosen_ = candidate;
  const double factor = rules_.drop[std::min(size_t(round_), rules_.drop.size() - 1)];
  int left = 0;
  for (const int candidate : turn_) {
    Trials& trials = trials_[size_t(candidate)];
    const double best = *std::min_element(trials.seconds.begin(), trials.seconds.end());
    trials.dropped = candidate != chosen_ && best > factor * time_of(chosen_);
    left += !trials.dropped;
  }
  ++round_;
  if (round_ < rules_.rounds && left > 1) return begin_round();
  if (!trials_[0].dropped && time_of(chosen_) > rules_.worth * time_of(0)) chosen_ = 0;
  state_ = State::locked;
  locked_seconds_ = time_of(chosen_);
  since_check_ = 0;
  spent_ = 0;
  check_after_ = rules_.first_check;
  ballot_.clear();
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
