#include "collectives/selection.h"

#include <algorithm>
#include <cmath>

namespace haichi::collectives {
namespace {

constexpr size_t kProof = 2;   // calls that count before a candidate may be dropped
constexpr size_t kProbes = 3;  // of another candidate when calls are looked at

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Selection::Selection(int candidates, SelectionRules rules) : rules_(std::move(rules)) {
  budget_.share = rules_.budget;
  trials_.resize(size_t(candidates));
  steady_.resize(size_t(candidates));
  if (candidates > 1 && rules_.budget > 0) {
    begin_trials();
    return;
  }
  state_ = State::locked;  // nothing else to turn to
  purpose_ = Purpose::watch;
  chosen_ = 0;
}

Selection Selection::decided(int candidates, int chosen, double seconds, SelectionRules rules) {
  Selection selection(candidates, std::move(rules));
  selection.chosen_ = chosen;
  selection.trials_[size_t(chosen)].seconds = {seconds};
  if (candidates > 1) selection.lock();
  return selection;
}

void Selection::begin_trials() {
  state_ = State::trying;
  round_ = agreements_ = 0;
  for (Trials& trials : trials_) trials = {};
  if (unlimited()) return begin_rounds();
  purpose_ = Purpose::usual;
  saved_ = 0;
  ballot_.clear();
  turn_.assign(size_t(calls_ == 0 ? rules_.usual_calls : rules_.least_usual), 0);
}

// Every round begins with another candidate, so that none always follows the same one.
void Selection::fill_turns(const std::vector<int>& left, int end) {
  turn_.clear();
  for (int round = round_; round < end; ++round)
    for (size_t i = 0; i < left.size(); ++i)
      turn_.push_back(left[(i + size_t(round)) % left.size()]);
  round_ = end;
  ballot_.clear();
  saved_ = 0;
  purpose_ = Purpose::rounds;
}

// An agreement costs about what a call of few bytes does, so they become rarer: after 1, 2, 5, 12,
// ... rounds.
void Selection::begin_rounds() {
  const int end = round_ < rules_.rounds
                      ? std::min(rules_.rounds, round_ + std::max(1, round_ + round_ / 2))
                      : round_ + rules_.rounds;
  fill_turns(left(), end);
}

int Selection::next() const {
  if (state_ == State::locked && purpose_ != Purpose::probe) return chosen_;
  return saved_ > 0 ? turn_[0] : turn_[ballot_.size()];
}

// The first call ever makes connections, and is no trial either.
bool Selection::is_trial() const {
  return purpose_ == Purpose::first || purpose_ == Purpose::proof || purpose_ == Purpose::rounds ||
         purpose_ == Purpose::probe || calls_ == 1;
}

bool Selection::took(double seconds) {
  const int candidate = next();
  ++calls_;
  if (!is_trial()) {
    ++steady_[size_t(candidate)].calls;
    steady_[size_t(candidate)].seconds += seconds;
  }
  if (purpose_ == Purpose::watch || saved_ > 0) {
    if (purpose_ == Purpose::watch && check_after_ == 0) return false;
    spent_ += seconds;
    if (++since_ < (purpose_ == Purpose::watch ? check_after_ : saved_)) return false;
    ballot_ = {spent_ / double(since_)};
  } else {
    ballot_.push_back(seconds);
    if (ballot_.size() < turn_.size()) return false;
  }
  if (!unlimited()) ballot_.push_back(overhead_);
  overhead_ = 0;
  return true;
}

void Selection::agree(std::span<const double> mean) {
  if (!unlimited()) {
    agreement_ = mean.back();
    budget_.spent(agreement_);
    mean = mean.first(mean.size() - 1);
    settle(mean);
  }
  const Purpose was = purpose_;
  if (was == Purpose::watch) return look_for_drift(mean[0]);
  if (was == Purpose::probe) return compare_probes(mean);
  learn(mean);
  if (was == Purpose::rounds) return finish_rounds();
  plan();
}

// What the calls since the last agreement were to the budget.
void Selection::settle(std::span<const double> mean) {
  const double usual = time_of(0);
  if (purpose_ == Purpose::watch || saved_ > 0) {
    const int candidate = purpose_ == Purpose::watch ? chosen_ : turn_[0];
    const double seconds = mean[0] * double(since_);
    budget_.earned(seconds);
    if (candidate != 0 && usual > 0) budget_.took(seconds, usual * double(since_));
    since_ = 0;
    spent_ = 0;
    return;
  }
  for (size_t i = 0; i < turn_.size(); ++i) {
    const double usual_then = purpose_ == Purpose::probe ? watched_seconds_ : usual;
    const bool other = purpose_ == Purpose::probe ? turn_[i] != chosen_ : turn_[i] != 0;
    budget_.earned(mean[i]);
    if (other && usual_then > 0) budget_.took(mean[i], usual_then);
  }
}

void Selection::learn(std::span<const double> mean) {
  if (saved_ > 0) return;
  if (purpose_ == Purpose::usual) {
    // Of many calls the latest; the first made connections.
    const size_t most = std::max<size_t>(3, size_t(rules_.rounds));
    const size_t from = std::max<size_t>(1, mean.size() > most ? mean.size() - most : 0);
    trials_[0].first = mean[0];
    trials_[0].seconds.assign(mean.begin() + ptrdiff_t(from), mean.end());
    chosen_ = 0;
  } else if (purpose_ == Purpose::first) {
    Trials& tried = trials_[size_t(turn_[0])];
    tried.first = mean[0];
    tried.dropped = std::isfinite(rules_.drop[0]) && mean[0] > rules_.absurd * time_of(0);
  } else {
    for (size_t i = 0; i < turn_.size(); ++i) trials_[size_t(turn_[i])].seconds.push_back(mean[i]);
    if (purpose_ != Purpose::proof) return;
    Trials& tried = trials_[size_t(turn_[0])];
    const double best = std::ranges::min(tried.seconds);
    chosen_ = incumbent();
    tried.dropped = turn_[0] != chosen_ && best > rules_.drop[0] * time_of(chosen_);
  }
}

double Selection::time_of(int candidate) const {
  return median(trials_[size_t(candidate)].seconds);
}

bool Selection::to_be_proven(int candidate) const {
  const Trials& trials = trials_[size_t(candidate)];
  return candidate != 0 && !trials.dropped && trials.seconds.size() < kProof;
}

// What the next step towards knowing a candidate is expected to cost: its first call, or the two
// that count.
double Selection::excess_of_proof(int candidate) const {
  const double usual = time_of(0);
  const Trials& trials = trials_[size_t(candidate)];
  if (trials.first > 0) return agreement_ + double(kProof) * std::max(0.0, trials.first - usual);
  double ratio = 1, least = HUGE_VAL;
  if (!expected_.empty() && expected_[size_t(candidate)] > 0) {
    for (const double each : expected_)
      if (each > 0) least = std::min(least, each);
    ratio = expected_[size_t(candidate)] / least;
  }
  return agreement_ + (rules_.unknown + ratio - 1) * usual;
}

double Selection::excess_of_rounds(const std::vector<int>& left, int rounds) const {
  double excess = agreement_;
  for (const int each : left) excess += double(rounds) * std::max(0.0, time_of(each) - time_of(0));
  return excess;
}

// Those that are still in and are known by calls that count.
std::vector<int> Selection::left() const {
  std::vector<int> left;
  for (int i = 0; i < int(trials_.size()); ++i)
    if (!trials_[size_t(i)].dropped && (unlimited() || !to_be_proven(i))) left.push_back(i);
  return left;
}

// What calls take while a budget is saved: the fastest, but the library's unless that is worth it.
int Selection::incumbent() const {
  int best = 0;
  for (const int each : left())
    if (time_of(each) < time_of(best)) best = each;
  return time_of(best) <= rules_.worth * time_of(0) ? best : 0;
}

void Selection::plan() {
  if (begin_proof()) return;
  turn_ = left();
  const bool several = drop_the_slow();
  agreements_ = std::max(agreements_, 1);
  round_ = std::max(round_, int(kProof));
  if (!several) return lock();
  const std::vector<int> all = left();
  const int rounds = round_ < rules_.rounds ? rules_.rounds - round_ : rules_.rounds;
  const double excess = excess_of_rounds(all, rounds);
  if (!budget_.allows(excess)) return begin_saving(excess);
  fill_turns(all, round_ + rounds);
}

// Goes on with the first candidate that is not known yet and is affordable, or saves for one. What
// was more than twice as slow in its first call is not waited for.
bool Selection::begin_proof() {
  double least = HUGE_VAL;
  for (int i = 1; i < int(trials_.size()); ++i) {
    if (!to_be_proven(i)) continue;
    const double excess = excess_of_proof(i);
    const bool begun = trials_[size_t(i)].first > 0;
    if (budget_.allows(excess)) {
      purpose_ = begun ? Purpose::proof : Purpose::first;
      turn_.assign(begun ? kProof : 1, i);
      saved_ = 0;
      ballot_.clear();
      return true;
    }
    if (!begun || trials_[size_t(i)].first <= 2 * time_of(0)) least = std::min(least, excess);
  }
  if (std::isinf(least)) return false;
  begin_saving(least);
  return true;
}

void Selection::begin_saving(double excess) {
  chosen_ = incumbent();
  purpose_ = Purpose::saving;
  turn_ = {chosen_};
  // An agreement may cost more than the calls since the last have saved, so they become rarer.
  const int64_t most = std::max(rules_.patience, std::min(calls_, rules_.last_check));
  // The agreement that ends the saving is paid for, too.
  saved_ = budget_.calls_until(excess + agreement_, time_of(chosen_), time_of(0), most);
  since_ = 0;
  spent_ = 0;
  ballot_.clear();
}

void Selection::finish_rounds() {
  const bool several = drop_the_slow();
  ++agreements_;
  if (several && (round_ < rules_.rounds || goes_on()))
    return unlimited() ? begin_rounds() : plan();
  if (!trials_[0].dropped && time_of(chosen_) > rules_.worth * time_of(0)) chosen_ = 0;
  lock();
}

void Selection::lock() {
  if (!trials_[0].dropped && time_of(0) > 0 && time_of(chosen_) > rules_.worth * time_of(0))
    chosen_ = 0;
  state_ = State::locked;
  locked_seconds_ = time_of(chosen_);
  check_after_ = rules_.first_check;
  watch();
}

// The calls until the next look: bounded, and in seconds too.
void Selection::watch() {
  purpose_ = Purpose::watch;
  saved_ = 0;
  since_ = 0;
  spent_ = 0;
  ballot_.clear();
  check_after_ = std::min(check_after_, rules_.last_check);
  if (!(locked_seconds_ > 0)) return;
  const double fit = rules_.check_seconds / locked_seconds_;
  if (fit < double(check_after_)) check_after_ = std::max(rules_.least_check, int64_t(fit));
}

// Finds the best so far. True if others are left beside it.
bool Selection::drop_the_slow() {
  const std::vector<int> all = left();
  chosen_ = all[0];
  for (const int candidate : all)
    if (time_of(candidate) < time_of(chosen_)) chosen_ = candidate;
  double factor = rules_.drop[std::min(size_t(agreements_), rules_.drop.size() - 1)];
  if (agreements_ > 0 && std::isfinite(factor))
    factor = std::min(factor, std::max(rules_.least, 1 + rules_.spread * trials_differ_by()));
  bool several = false;
  for (const int candidate : all) {
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
  for (const int each : left()) {
    const Trials& trials = trials_[size_t(each)];
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
  for (const int each : left()) {
    std::vector<double> sorted = trials_[size_t(each)].seconds;
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
  for (const int i : left()) {
    if (i == chosen_) continue;
    Trials& trials = trials_[size_t(i)];
    trials.dropped = time_of(i) > (1 + 2 * doubt) * time_of(chosen_);
    several |= !trials.dropped;
  }
  return several;
}

// The other candidate that may have become faster: the library's, or the best beside it.
int Selection::rival() const {
  if (chosen_ != 0) return 0;
  int best = -1;
  for (int i = 1; i < int(trials_.size()); ++i)
    if (trials_[size_t(i)].seconds.size() >= kProof && (best < 0 || time_of(i) < time_of(best)))
      best = i;
  return best;
}

void Selection::look_for_drift(double mean) {
  if (mean > rules_.drift * locked_seconds_ || mean * rules_.drift < locked_seconds_) {
    ++retries_;
    return begin_trials();
  }
  check_after_ *= 2;
  const int other = unlimited() ? -1 : rival();
  watched_seconds_ = mean;
  const double known = other < 0 ? 0 : time_of(other);
  const double each = known > 0 ? std::max(0.0, known - mean) : (rules_.unknown + 1) * mean;
  if (other < 0 || !budget_.allows(agreement_ + double(kProbes) * each)) return watch();
  purpose_ = Purpose::probe;
  turn_.assign(kProbes, other);
  ballot_.clear();
}

void Selection::compare_probes(std::span<const double> mean) {
  if (median({mean.begin(), mean.end()}) >= rules_.overtakes * watched_seconds_) return watch();
  ++retries_;
  begin_trials();
}

}  // namespace haichi::collectives
