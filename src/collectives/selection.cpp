#include "collectives/selection.h"

#include <algorithm>
#include <cmath>

namespace haichi::collectives {
namespace {

constexpr size_t kProof = 2;     // calls that count before a candidate may be dropped
constexpr size_t kProbes = 3;    // of another candidate when calls are looked at
constexpr int kBaseline = 5;     // calls of the library's before the first trial, told one by one
constexpr size_t kEnough = 8;    // calls that are no trials and tell what a candidate takes
constexpr int64_t kUnsure = 64;  // most of a candidate that two calls speak for
constexpr size_t kLatest = 64;   // of these, whose median is told
constexpr size_t kOfMany = 2;    // numbers that a ballot has of them: mean and median

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

void Selection::expect(std::vector<double> seconds) {
  expected_ = std::move(seconds);
  if (calls_ == 0 && state_ == State::trying && !unlimited()) begin_first_tries();
}

void Selection::begin_trials() {
  state_ = State::trying;
  round_ = agreements_ = 0;
  for (Trials& trials : trials_) trials = {};
  latest_.clear();
  if (unlimited()) return begin_rounds();
  if (calls_ == 0) return begin_first_tries();
  begin(Purpose::usual, 0);
  turn_.assign(size_t(rules_.least_usual), 0);
}

// The calls until the next agreement: `saved` of what is best so far, then turn_.
void Selection::begin(Purpose purpose, int64_t saved) {
  purpose_ = purpose;
  saved_ = saved;
  since_ = 0;
  spent_ = 0;
  ballot_.clear();
  turn_.clear();
}

// The library's calls pay for the first call of another candidate and for the agreement, so that a
// job that ends before that has lost nothing.
void Selection::begin_first_tries() {
  int first = 1;
  for (int i = 2; i < int(trials_.size()); ++i)
    if (excess_of_try(i) < excess_of_try(first)) first = i;
  const double excess = rules_.agreement + excess_of_try(first);
  const int64_t calls = std::max(int64_t(rules_.usual_calls),
                                 TrialBudget{budget_.share}.calls_until(
                                     excess, 1, 1, std::max<int64_t>(1, rules_.last_check)));
  begin(Purpose::tries, std::max(int64_t(kEnough), calls - 1 - kBaseline));
  turn_.assign(kBaseline, 0);
  turn_.push_back(first);
}

// Every round begins with another candidate, so that none always follows the same one.
void Selection::fill_turns(const std::vector<int>& left, int end) {
  for (int round = round_; round < end; ++round)
    for (size_t i = 0; i < left.size(); ++i)
      turn_.push_back(left[(i + size_t(round)) % left.size()]);
  round_ = end;
  purpose_ = Purpose::rounds;
}

// An agreement costs about what a call of few bytes does, so they become rarer: after 1, 2, 5, 12,
// ... rounds.
void Selection::begin_rounds() {
  const int end = round_ < rules_.rounds
                      ? std::min(rules_.rounds, round_ + std::max(1, round_ + round_ / 2))
                      : round_ + rules_.rounds;
  begin(Purpose::rounds, 0);
  fill_turns(left(), end);
}

int Selection::next() const {
  if (state_ == State::locked && purpose_ != Purpose::probe) return chosen_;
  if (saves()) return std::max(chosen_, 0);
  return turn_[ballot_.size() - (saved_ > 0 ? kOfMany : 0)];
}

// The first call ever makes connections, and is no trial either.
bool Selection::is_trial() const {
  if (calls_ == 0) return true;
  if (purpose_ == Purpose::usual || purpose_ == Purpose::watch || saves()) return false;
  return purpose_ != Purpose::tries || next() != 0;
}

bool Selection::took(double seconds) {
  const int candidate = next();
  const bool trial = is_trial();
  ++calls_;
  if (!trial) {
    ++steady_[size_t(candidate)].calls;
    steady_[size_t(candidate)].seconds += seconds;
  }
  if (purpose_ == Purpose::watch || saves()) {
    if (saved_ == 0 || (calls_ == 1 && !unlimited())) return false;
    spent_ += seconds;
    remember(candidate, seconds);
    if (++since_ < saved_) return false;
    ballot_ = {spent_ / double(since_), median(latest_)};
  } else {
    ballot_.push_back(seconds);
  }
  if (ballot_.size() < turn_.size() + (saved_ > 0 ? kOfMany : 0)) return false;
  if (!unlimited()) ballot_.push_back(overhead_);
  overhead_ = 0;
  return true;
}

void Selection::remember(int candidate, double seconds) {
  if (candidate != latest_of_) latest_.clear();
  latest_of_ = candidate;
  if (latest_.size() < kLatest)
    latest_.push_back(seconds);
  else
    latest_[size_t(since_) % kLatest] = seconds;
}

void Selection::took_by_all(double seconds) {
  if (took(seconds)) agree(std::vector<double>(ballot_));
}

void Selection::agree(std::span<const double> mean) {
  if (!unlimited()) {
    // The first has nothing to say of agreements before it.
    const double seconds = mean.back();
    if (agreed_) agreement_ = agreement_ < 0 ? seconds : std::min(agreement_, seconds);
    agreed_ = true;
    budget_.spent(seconds);
    mean = mean.first(mean.size() - 1);
  }
  mean = settle(mean);
  const Purpose was = purpose_;
  if (was == Purpose::watch) return look_for_drift();
  if (was == Purpose::probe) return compare_probes(mean);
  learn(mean);
  if (was == Purpose::rounds) return finish_rounds();
  plan();
}

// What the calls since the last agreement were to the budget. Returns the times of turn_.
std::span<const double> Selection::settle(std::span<const double> mean) {
  if (saved_ > 0) {
    const int candidate = std::max(chosen_, 0);
    const double seconds = mean[0] * double(since_), usual = believed(0) * double(since_);
    budget_.earned(seconds);
    if (candidate != 0 && usual > 0) budget_.took(seconds, usual);
    if (latest_.size() >= kEnough) trials_[size_t(candidate)].steady = mean[1];
    if (purpose_ == Purpose::watch) watched_seconds_ = mean[1];
    mean = mean.subspan(kOfMany);
  }
  for (size_t i = 0; i < turn_.size(); ++i) {
    const double usual = purpose_ == Purpose::probe ? watched_seconds_ : believed(0);
    const bool other = purpose_ == Purpose::probe ? turn_[i] != chosen_ : turn_[i] != 0;
    budget_.earned(mean[i]);
    if (other && usual > 0) budget_.took(mean[i], usual);
  }
  return mean;
}

void Selection::learn(std::span<const double> mean) {
  if (purpose_ == Purpose::usual) {
    trials_[0].first = mean[0];  // makes connections
    trials_[0].seconds.assign(mean.begin() + 1, mean.end());
    chosen_ = 0;
    return;
  }
  for (size_t i = 0; i < turn_.size(); ++i) {
    Trials& tried = trials_[size_t(turn_[i])];
    const bool begins = purpose_ == Purpose::tries && turn_[i] != 0 && tried.first == 0;
    if (!begins) {
      tried.seconds.push_back(mean[i]);
      continue;
    }
    tried.first = mean[i];
    tried.dropped = std::isfinite(rules_.drop[0]) && mean[i] > rules_.absurd * believed(0);
  }
  if (purpose_ != Purpose::tries) return;
  chosen_ = incumbent();
  for (const int each : turn_) {
    Trials& tried = trials_[size_t(each)];
    if (each == 0 || each == chosen_ || tried.seconds.size() < kProof) continue;
    tried.dropped |= std::ranges::min(tried.seconds) > rules_.drop[0] * believed(chosen_);
  }
}

double Selection::time_of(int candidate) const {
  return median(trials_[size_t(candidate)].seconds);
}

// What a call of it takes: as many calls say that were no trials, where there were such.
double Selection::believed(int candidate) const {
  const double steady = trials_[size_t(candidate)].steady;
  return steady > 0 ? steady : time_of(candidate);
}

bool Selection::to_be_proven(int candidate) const {
  const Trials& trials = trials_[size_t(candidate)];
  return candidate != 0 && !trials.dropped && trials.seconds.size() < kProof;
}

double Selection::agreement_costs() const {
  return agreement_ < 0 ? rules_.agreement * believed(0) : agreement_;
}

// What the next step towards knowing a candidate is expected to cost: its first call, or the two
// that count. In calls of the library's while nothing was agreed.
double Selection::excess_of_try(int candidate) const {
  const double usual = agreed_ ? believed(0) : 1;
  const Trials& trials = trials_[size_t(candidate)];
  if (trials.first > 0) return double(kProof) * std::max(0.0, trials.first - usual);
  double ratio = 1, least = HUGE_VAL;
  if (!expected_.empty() && expected_[size_t(candidate)] > 0) {
    for (const double each : expected_)
      if (each > 0) least = std::min(least, each);
    ratio = expected_[size_t(candidate)] / least;
  }
  return (rules_.unknown + ratio - 1) * usual;
}

double Selection::excess_of_rounds(const std::vector<int>& left, int rounds) const {
  double excess = agreement_costs();
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
    if (believed(each) < believed(best)) best = each;
  return believed(best) <= rules_.worth * believed(0) ? best : 0;
}

void Selection::plan() {
  if (begin_tries()) return;
  const bool several = drop_the_slow();
  agreements_ = std::max(agreements_, 1);
  round_ = std::max(round_, int(kProof));
  if (!several) return lock();
  const std::vector<int> all = left();
  const int rounds = round_ < rules_.rounds ? rules_.rounds - round_ : rules_.rounds;
  if (save_for(excess_of_rounds(all, rounds))) fill_turns(all, round_ + rounds);
}

// Goes on with candidates that are not known yet: the cheapest, and others until their calls cost
// as much as the agreement. What was more than twice as slow in its first call is not waited for.
bool Selection::begin_tries() {
  std::vector<int> open;
  for (int i = 1; i < int(trials_.size()); ++i)
    if (to_be_proven(i)) open.push_back(i);
  std::ranges::stable_sort(open, {}, [&](int i) { return excess_of_try(i); });
  const double agreement = agreement_costs();
  double excess = 0;
  std::vector<int> turn;
  for (const int each : open) {
    const bool begun = trials_[size_t(each)].first > 0;
    const double more = excess_of_try(each);
    if (!turn.empty() && excess + more > agreement) break;
    if (begun && trials_[size_t(each)].first > 2 * believed(0) && !budget_.allows(agreement + more))
      continue;
    excess += more;
    turn.insert(turn.end(), begun ? kProof : 1, each);
  }
  if (turn.empty()) return false;
  if (save_for(agreement + excess)) {
    purpose_ = Purpose::tries;
    turn_ = std::move(turn);
  }
  return true;
}

// Calls of the best so far until so much may be spent. False if that is far away: then these calls
// are all that comes before the next agreement.
bool Selection::save_for(double excess) {
  begin(Purpose::saving, 0);
  if (budget_.allows(excess)) return true;
  chosen_ = incumbent();
  int64_t most = rules_.last_check;
  // What two calls promise is looked at before long, but not for more than the look is worth.
  if (chosen_ != 0 && trials_[size_t(chosen_)].steady == 0)
    most = std::min(most, std::max(kUnsure, int64_t(20 * agreement_costs() / believed(0))));
  saved_ = budget_.calls_until(excess, believed(chosen_), believed(0), most + 1);
  if (saved_ <= most) return true;
  saved_ = most;
  return false;
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

// The calls until the next look: bounded, and in seconds too. They pay for it where they can.
void Selection::watch() {
  if (!unlimited() && trials_.size() > 1)
    check_after_ = std::max(check_after_, budget_.calls_until(agreement_costs(), locked_seconds_,
                                                              locked_seconds_, rules_.last_check));
  check_after_ = std::min(check_after_, rules_.last_check);
  if (locked_seconds_ > 0) {
    const double fit = rules_.check_seconds / locked_seconds_;
    if (fit < double(check_after_)) check_after_ = std::max(rules_.least_check, int64_t(fit));
  }
  begin(Purpose::watch, check_after_);
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

void Selection::look_for_drift() {
  const double now = watched_seconds_;
  // Of many calls: a few trials may have promised what is not kept.
  const bool pays = unlimited() || chosen_ == 0 || !(believed(0) > 0) || now <= believed(0);
  if (now > rules_.drift * locked_seconds_ || now * rules_.drift < locked_seconds_ || !pays) {
    ++retries_;
    return begin_trials();
  }
  check_after_ *= 2;
  const int other = unlimited() ? -1 : rival();
  const double known = other < 0 ? 0 : time_of(other);
  const double each = known > 0 ? std::max(0.0, known - now) : (rules_.unknown + 1) * now;
  if (other < 0 || !budget_.allows(agreement_costs() + double(kProbes) * each)) return watch();
  begin(Purpose::probe, 0);
  turn_.assign(kProbes, other);
}

void Selection::compare_probes(std::span<const double> mean) {
  if (median({mean.begin(), mean.end()}) >= rules_.overtakes * watched_seconds_) return watch();
  ++retries_;
  begin_trials();
}

}  // namespace haichi::collectives
