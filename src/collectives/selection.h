// The choice among candidates by trial (paper 004, section 3.2, steps (4) and (5); STAR-MPI, its
// [1]): a state machine that all ranks of a communicator run alike.
//
// It begins with the MPI library's own way. When the calls so far pay for it (trial_budget.h),
// another candidate has a call that makes its connections and does not count; the ranks reduce
// their times, so that what is absurdly slow is over after one call. A candidate that is not has
// two calls that count. What is left then takes turns: in a round every candidate has a call, and
// after some rounds the ranks reduce their times (the mean over the ranks counts) and drop the slow
// ones. After the last round the best is locked, unless trials differ so much that the medians are
// in doubt: then there are more rounds, of the candidates that are about as fast. Where the budget
// does not allow the next trial, calls take the best that is known.
//
// An agreement may cost as much as several calls, so there is none but behind trials: what has been
// saved until then follows from the calls' number and their agreed time. And the dearer it is, the
// more candidates are tried before it.
//
// Without a budget there are rounds of all candidates from the first call on.
//
// From the lock on calls are looked at now and then, after a bounded number of calls and of
// seconds: when they differ from what they were, or another candidate has become faster, the
// candidates are tried once more.
//
// Which candidate the next call takes depends on the number of calls and on what was agreed, and so
// is the same on all ranks without a word.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/trial_budget.h"

namespace haichi::collectives {

struct SelectionRules {
  int rounds = 5;  ///< trials of each candidate that is not dropped
  /// A candidate is dropped at the n-th agreement if its best time is more than this times that of
  /// the fastest; the last entry counts for all later ones. Infinite: none is ever dropped. Paper
  /// 004 has 2 (for the model).
  std::vector<double> drop = {2.0, 1.25};
  /// From the second agreement on less is enough: 1 plus so many times what a candidate's trials
  /// differ by (the median of the candidates left, the slowest by the fastest, less 1) ...
  double spread = 3;
  double least = 1.02;  ///< ... but at least this
  /// The library's own is kept unless another takes less than this share of its time: what trials
  /// cannot tell apart is not worth a change. Nor is it dropped for less.
  double worth = 0.97;
  /// After `rounds` rounds there are as many again, up to this many times, while the medians of the
  /// candidates left are in doubt by more than the share `sure` (their standard error).
  int longest = 3;
  double sure = 0.03;
  int64_t first_check = 256;  ///< calls after the lock until the first look for drift; then doubled
  int64_t last_check = 4096;  ///< ... up to so many calls ...
  double check_seconds = 60;  ///< ... or so many seconds, but at least `least_check` calls
  int64_t least_check = 16;
  double drift = 1.5;      ///< slower than at the lock by this factor, or faster: try again
  double overtakes = 0.9;  ///< another candidate took less than this share of the chosen one's time

  double budget = 0.02;  ///< TrialBudget::share; infinite: rounds from the first call on
  int usual_calls = 40;  ///< at least, of the library's own before the first trial
  int least_usual = 4;   ///< the same where trials begin anew
  /// Times the library's that a candidate of which nothing is known is taken to need more.
  double unknown = 0.5;
  double absurd = 4;  ///< times the library's: dropped after its first call
  /// Times the library's call that an agreement is taken to cost before one was made.
  double agreement = 1;
};

class Selection {
 public:
  enum class State : uint8_t { trying, locked };

  /// `candidates` at least 1; number 0 is the MPI library's own and is tried first. With a single
  /// candidate it is locked at once.
  explicit Selection(int candidates, SelectionRules rules = {});
  /// Locked on a choice of an earlier run, whose time in seconds is known; watched as any other.
  static Selection decided(int candidates, int chosen, double seconds, SelectionRules rules = {});
  /// Before the first call: what a model predicts of each candidate; 0 where nothing is known. Only
  /// their ratios count. The same on all ranks.
  void expect(std::vector<double> seconds);

  /// The candidate for the next call.
  int next() const;
  /// This rank's time of that call. True if all ranks must agree now, before the next call.
  bool took(double seconds);
  /// A time of that call that all ranks know: took(), and agreed on at once where that is due.
  void took_by_all(double seconds);
  /// This rank's time of the last agreement, before the next call: trials have to pay for it.
  void agreement_took(double seconds) { overhead_ += seconds; }
  /// What this rank has to say; the same number of entries on every rank.
  std::span<const double> ballot() const { return ballot_; }
  /// The mean of all ranks' ballots.
  void agree(std::span<const double> mean);

  State state() const { return state_; }
  /// The locked candidate, or the best so far; -1 before the first agreement.
  int chosen() const { return chosen_; }
  /// Agreed time of the chosen one in seconds: the median of its trials.
  double seconds() const { return chosen_ < 0 ? 0 : time_of(chosen_); }
  /// The same of any candidate; 0 if it was not tried.
  double time_of(int candidate) const;
  int64_t calls() const { return calls_; }
  int retries() const { return retries_; }
  const TrialBudget& budget() const { return budget_; }

  /// What happened to a candidate: the agreed times of its trials, and whether it is still in.
  struct Trials {
    std::vector<double> seconds;
    double first = 0;   ///< of the call that made connections and does not count
    double steady = 0;  ///< median of the latest calls that were no trials; 0: too few
    bool dropped = false;
  };
  const std::vector<Trials>& trials() const { return trials_; }
  /// Calls that were no trials, of each candidate, and this rank's time in them.
  struct Steady {
    int64_t calls = 0;
    double seconds = 0;
  };
  const std::vector<Steady>& steady() const { return steady_; }

 private:
  /// What the calls until the next agreement are for, behind those that save for it.
  enum class Purpose : uint8_t { usual, saving, tries, rounds, watch, probe };

  bool unlimited() const { return budget_.unlimited(); }
  bool saves() const { return purpose_ != Purpose::watch && since_ < saved_; }
  bool is_trial() const;
  void begin_trials();
  void begin_first_tries();
  void begin_rounds();
  void fill_turns(const std::vector<int>& left, int end);
  void begin(Purpose purpose, int64_t saved);
  bool save_for(double excess);
  void plan();
  bool begin_tries();
  bool to_be_proven(int candidate) const;
  double excess_of_try(int candidate) const;
  double excess_of_rounds(const std::vector<int>& left, int rounds) const;
  double agreement_costs() const;
  std::vector<int> left() const;
  int incumbent() const;
  double believed(int candidate) const;
  void remember(int candidate, double seconds);
  std::span<const double> settle(std::span<const double> mean);
  void learn(std::span<const double> mean);
  void finish_rounds();
  bool drop_the_slow();
  double trials_differ_by() const;
  bool goes_on();
  double doubt() const;
  bool drop_beyond(double doubt);
  void lock();
  void watch();
  void look_for_drift();
  void compare_probes(std::span<const double> mean);
  int rival() const;

  SelectionRules rules_;
  TrialBudget budget_;
  State state_ = State::trying;
  Purpose purpose_ = Purpose::usual;
  std::vector<Trials> trials_;
  std::vector<Steady> steady_;
  std::vector<double> expected_;
  int64_t saved_ = 0;           // calls of chosen_ before turn_ begins, or all that are watched
  int64_t since_ = 0;           // of these, made
  double spent_ = 0;            // seconds in these
  std::vector<double> latest_;  // seconds of the latest calls of latest_of_ that were no trials
  int latest_of_ = -1;
  std::vector<int> turn_;  // until the next agreement: the candidates, in order
  /// Of the calls saved or watched mean and median, the times of turn_, and with a budget
  /// `overhead_`.
  std::vector<double> ballot_;
  double overhead_ = 0;    // seconds: this rank's, of agreements that were not told yet
  double agreement_ = -1;  // seconds: the least that was agreed of one
  bool agreed_ = false;    // once at least
  int round_ = 0;          // rounds that are agreed on
  int agreements_ = 0;     // of these trials
  int chosen_ = -1;
  double locked_seconds_ = 0, watched_seconds_ = 0;
  int64_t calls_ = 0;
  int64_t check_after_ = 0;  // calls; 0: never
  int retries_ = 0;
};

}  // namespace haichi::collectives
