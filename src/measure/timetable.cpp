#include "measure/timetable.h"

#include <algorithm>

namespace haichi::measure {
namespace {

// A visit makes and frees what it needs, which should not be most of it.
constexpr double kShortest = 0.002;
// What early points leave over goes to later ones, but none takes all of it.
constexpr double kLargestShare = 4;
constexpr int kFewestVisits = 2;

}  // namespace

bool reached(const Histogram& samples, const Goal& goal) {
  if (samples.count() < goal.fewest_samples) return false;
  const auto interval = median_interval(samples);
  const double median = samples.quantile(0.5);
  return interval && interval->high - interval->low <= 2 * goal.within * median;
}

Timetable::Timetable(int points, double budget, Goal goal)
    : points_(points), budget_(budget), goal_(goal), over_(size_t(points)) {}

int Timetable::block_end() const { return std::min(begin_ + kBlock, points_); }

int Timetable::unfinished(int from, int to) const {
  return int(std::count(over_.begin() + from, over_.begin() + to, 0));
}

// To the next block; false if there is none.
bool Timetable::leave_block() {
  begin_ = block_end();
  done_ = begin_;
  round_ = 0;
  position_ = begin_ - 1;
  return begin_ < points_;
}

// To the next point that is not done, in this round or a later one; false if there is none.
bool Timetable::find_next(double elapsed) {
  for (;;) {
    const int end = block_end();
    ++position_;
    while (position_ < end && over_[size_t(position_)]) ++position_;
    if (position_ < end) return true;
    position_ = begin_ - 1;
    const bool last = ++round_ == kRounds || elapsed > budget_ || unfinished(begin_, end) == 0;
    if (last && !leave_block()) return false;
  }
}

std::optional<Timetable::Visit> Timetable::next(double elapsed) {
  if (begin_ >= points_) return std::nullopt;
  if (visits_ > 0) overrun_ += elapsed - begun_ - asked_;
  if (!find_next(elapsed)) return std::nullopt;
  const int here = unfinished(position_, block_end());
  const int later_rounds = unfinished(begin_, block_end()) * (kRounds - 1 - round_);
  const int later_blocks = (points_ - block_end()) * kRounds;
  const double overrun = visits_ > 0 ? std::max(overrun_ / visits_, 0.0) : 0;
  const double share = (budget_ - elapsed) / (here + later_rounds + later_blocks) - overrun;
  const double most = kLargestShare * budget_ / (points_ * kRounds);
  begun_ = elapsed;
  asked_ = std::clamp(share, kShortest, std::max(most, kShortest));
  ++visits_;
  return Visit{position_, asked_};
}

void Timetable::visited(const Histogram& samples, bool over) {
  const bool enough = round_ + 1 >= kFewestVisits && reached(samples, goal_);
  over_[size_t(position_)] = over || enough;
}

std::vector<int> Timetable::finished() {
  std::vector<int> points;
  while (reported_ < done_) points.push_back(reported_++);
  return points;
}

double Timetable::left(double elapsed) const {
  const double most = std::max(budget_ - elapsed, 0.0);
  if (done_ == 0) return most;
  return std::min(most, elapsed / done_ * (points_ - done_));
}

}  // namespace haichi::measure
