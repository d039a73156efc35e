// Times the calls of one measurement on the ranks that take part, in bursts.
//
// A call may fail at any time, on one rank alone. That rank goes on with the burst, since the
// others may wait for it in theirs; before the next burst all know, and make none.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/case/case.h"
#include "measure/case/team.h"
#include "measure/points.h"

namespace haichi::measure {

class Sampler {
 public:
  /// `team` has the ranks of `at`; its clock has looked if samples begin by it. `may_batch`, the
  /// same on all ranks: whether calls may follow each other within one sample.
  Sampler(const Point& point, const Body& body, Case& at, Team& team, Start start, bool may_batch)
      : point_(point), body_(body), at_(at), team_(team), start_(start), may_batch_(may_batch) {}

  /// Collective: times `count` samples of `batch` calls each; seconds of a sample, on the first
  /// rank. Of those begun by the clock, those that a rank was late for are not among them. Makes no
  /// call once one has failed on a rank.
  const std::vector<double>& burst(int count, int batch);
  /// Whether a call had failed before the last burst, on any rank.
  bool failed() const { return failed_; }
  /// How the first call failed that did on this rank; empty if none did.
  const std::string& problem() const { return problem_; }

  /// Collective: from here on samples begin by the clock, if the point has it so.
  /// `least` is what a sample takes at least, as the first rank knows.
  void go_by_the_clock(int batch, double least);
  /// Seconds from sample to sample by the clock; 0 as long as there is none.
  double window() const { return window_; }
  /// Begins with one that an earlier visit had; the same on all ranks, 0 for none.
  void take_window(double seconds) { window_ = seconds; }
  bool may_batch() const { return may_batch_; }
  /// How samples begin by now: by a barrier where ranks have been late for the clock too often.
  Start start() const { return start_; }
  /// How many samples a rank was late for, on the first rank.
  int64_t missed() const { return missed_; }

  /// What the first rank has decided, on all.
  std::array<int, 2> decide(std::array<int, 2> choice) const;

 private:
  void one(int i, int batch, int64_t begin_ns);
  void take(int count, int batch);
  void in_turn(int count, int batch);
  void by_the_clock(int count, int batch);
  void drop_missed(int count);

  const Point& point_;
  const Body& body_;
  Case& at_;
  Team& team_;
  Start start_;
  bool may_batch_;
  double window_ = 0;
  int bursts_ = 0, late_bursts_ = 0;  // by the clock
  int64_t missed_ = 0;
  std::string problem_;
  bool failed_ = false;
  std::vector<double> times_;
};

}  // namespace haichi::measure
