// The choice among candidates by trial (paper 004, section 3.2, steps (4) and (5); STAR-MPI, its
// [1]): a state machine that all ranks of a communicator run alike.
//
// Each call of the collective is one trial of one candidate, and in a round every candidate that is
// left has its call. After the first round, the second, and then ever more of them at once, the
// ranks reduce their times (the mean over the ranks counts), and the slow candidates are dropped:
// at first those that are far slower than the best, later those that are slower by more than the
// trials differ among themselves. After the last round the best is locked, unless trials differ so
// much that the medians are in doubt: then there are more rounds, of the candidates that are about
// as fast. From then on calls are watched: when they have become slower than they were, the
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
  double drift = 1.5;         ///< slower than at the lock by this factor: try again
};

class Selection {
 public:
  enum class State : uint8_t { trying, locked };

  /// `candidates` at least 1; number 0 is the MPI library's own and is tried first. With a single
  /// candidate it is locked at once.
  explicit Selection(int candidates, SelectionRules rules = {});
  /// Locked on a choice of an earlier run, whose time in seconds is known; watched as any other.
  static Selection decided(int candidates, int chosen, double seconds, SelectionRules rules = {});

  /// The candidate for the next call.
  int next() const;
  /// This rank's time of that call. True if all ranks must agree now, before the next call.
  bool took(double seconds);
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

  /// What happened to a candidate: the agreed times of its trials, and whether it is still in.
  struct Trials {
    std::vector<double> seconds;
    bool dropped = false;
  };
  const std::vector<Trials>& trials() const { return trials_; }

 private:
  void begin_trials();
  void begin_rounds();
  void finish_rounds(std::span<const double> mean);
  bool drop_the_slow();
  double trials_differ_by() const;
  bool goes_on();
  double doubt() const;
  bool drop_beyond(double doubt);
  void look_for_drift(double mean);

  SelectionRules rules_;
  State state_ = State::trying;
  std::vector<Trials> trials_;
  std::vector<int> turn_;       // until the next agreement: the candidates, in order
  std::vector<double> ballot_;  // their times so far; when locked, this rank's mean since the check
  int round_ = 0;               // rounds that are agreed on
  int agreements_ = 0;          // of these trials
  int chosen_ = -1;
  double locked_seconds_ = 0;
  int64_t calls_ = 0;
  int64_t since_check_ = 0, check_after_ = 0;  // calls; check_after_ 0: never
  double spent_ = 0;
  int retries_ = 0;
};

}  // namespace haichi::collectives
