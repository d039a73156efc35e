// Which point is measured next and for how long: what makes a run end in the time it was given.
//
// Points are taken in blocks, and each point of a block is visited in several rounds, in turns, so
// that a disturbance hits many points a little and not one point wholly. A point is done when the
// interval of its median is narrow enough, or its rounds are over. A block that is over is final:
// its points are written, and a run that is killed loses one block at most. When what is left of
// the time suffices for one short visit to each point that has none, these get one each.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "measure/histogram.h"

namespace haichi::measure {

/// When a point is known well enough.
struct Goal {
  double within = 0.02;         ///< half of the median's interval at most this share of it
  int64_t fewest_samples = 30;  ///< and so many samples at least
};

bool reached(const Histogram& samples, const Goal& goal);

/// What is known before a timetable's first visit.
struct LookedAt {
  std::vector<char> visited = {};  ///< by point: whether it has had a visit; empty: none has
  double overrun = 0;              ///< seconds by which visits will be longer than asked
};

class Timetable {
 public:
  static constexpr int kRounds = 3;
  static constexpr int kBlock = 16;

  /// A visit makes and frees what it needs, which should not be most of it: at least so long.
  static constexpr double kShortest = 0.002;

  /// `points` of them, within `budget` seconds. At `deadline` what is not visited is given up.
  Timetable(int points, double budget, Goal goal,
            double deadline = std::numeric_limits<double>::infinity(), LookedAt before = {});

  struct Visit {
    int point;
    double seconds;  ///< how long the visit should take, making and freeing included
  };
  /// The next visit at `elapsed` seconds since the start; nothing when all is done. Every visit is
  /// followed by a visited().
  std::optional<Visit> next(double elapsed);
  /// What the point has in all by now; `over` if it shall not be visited again whatever it has.
  void visited(const Histogram& samples, bool over);

  /// The points of the blocks that are over since this was asked last, in their order.
  std::vector<int> finished();
  /// Seconds that are left to take at `elapsed`, as far as can be told.
  double left(double elapsed) const;
  int done() const { return done_; }

 private:
  int block_end() const;
  bool leave_block();
  bool find_next(double elapsed);
  int unfinished(int from, int to) const;
  double overrun() const;
  double one_visit_each(int from) const;

  int points_;
  double budget_;
  Goal goal_;
  double deadline_;
  std::vector<char> over_, visited_;  // by point
  int begin_ = 0;                     // first point of the block
  int reported_ = 0;                  // points whose blocks finished() has told
  int round_ = 0, position_ = -1;
  int done_ = 0;
  double begun_ = 0, asked_ = 0;  // of the visit that is under way
  double overrun_ = 0;            // seconds by which visits have been longer than asked, in all
  int visits_ = 0;
};

}  // namespace haichi::measure
