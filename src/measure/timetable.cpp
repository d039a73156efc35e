#include "measure/timetable.h"

#include <algorithm>
#include <utility>

namespace haichi::measure {
namespace {

// What early points leave over goes to later ones, but none takes all of it.
constexpr double kLargestShare = 4;
constexpr int kFewestVisits = 2;
// What one visit to each may take more than those before it did: time that was spent on further
// visits is not there when it is needed.
constexpr double kReserve = 1.15;
// What is expected of visits counts as much as so many that were made.
constexpr int kBelievedFor = Timetable::kBlock;

}  // namespace

bool reached(const Histogram& samples, const Goal& goal) {
  if (samples.count() < goal.fewest_samples) return false;
  const auto interval = median_interval(samples);
  const double median = samples.quantile(0.5);
  return interval && interval->high - interval->low <= 2 * goal.within * median;
}

Timetable::Timetable(int points, double budget, Goal goal, double deadline, LookedAt before)
    : points_(points),
      budget_(budget),
      goal_(goal),
      deadline_(deadline),
      over_(size_t(points)),
      visited_(std::move(before.visited)),
      overrun_(before.overrun * kBelievedFor),
      visits_(before.overrun > 0 ? kBelievedFor : 0) {
  visited_.resize(size_t(points));
}

int Timetable::block_end() const { return std::min(begin_ + kBlock, points_); }

int Timetable::unfinished(int from, int to) const {
  return int(std::count(over_.begin() + from, over_.begin() + to, 0));
}

// Seconds by which visits are longer than they were asked to be, in the mean.
double Timetable::overrun() const { return visits_ > 0 ? std::max(overrun_ / visits_, 0.0) : 0; }

// To each point from there on that has had none.
double Timetable::one_visit_each(int from) const {
  const auto points = std::count(visited_.begin() + from, visited_.end(), 0);
  return double(points) * (kShortest + overrun()) * kReserve;
}

// To the next block; false if there is none.
bool Timetable::leave_block() {
  begin_ = block_end();
  done_ = begin_;
  round_ = 0;
  position_ = begin_ - 1;
  return begin_ < points_;
}

// To the next point that is not done, in this round or a later one; false if there is none. Where
// the time suffices for one visit to each only, those that have had theirs are passed over.
bool Timetable::find_next(double elapsed) {
  for (;;) {
    const int end = block_end();
    const bool first_only = round_ == 0 && elapsed + one_visit_each(begin_) > budget_;
    ++position_;
    while (position_ < end &&
           (over_[size_t(position_)] || (first_only && visited_[size_t(position_)])))
      ++position_;
    if (position_ < end) return true;
    position_ = begin_ - 1;
    const bool scarce = elapsed + one_visit_each(end) > budget_;
    const bool last = ++round_ == kRounds || scarce || unfinished(begin_, end) == 0;
    if (last && !leave_block()) return false;
  }
}

std::optional<Timetable::Visit> Timetable::next(double elapsed) {
  if (begin_ >= points_) return std::nullopt;
  if (visits_ > 0) overrun_ += elapsed - begun_ - asked_;
  if (elapsed > deadline_) {
    begin_ = done_ = points_;
    return std::nullopt;
  }
  if (!find_next(elapsed)) return std::nullopt;
  const int here = unfinished(position_, block_end());
  const int later_rounds = unfinished(begin_, block_end()) * (kRounds - 1 - round_);
  const int later_blocks = (points_ - block_end()) * kRounds;
  const double share = (budget_ - elapsed) / (here + later_rounds + later_blocks) - overrun();
  const double most = kLargestShare * budget_ / (points_ * kRounds);
  begun_ = elapsed;
  asked_ = std::clamp(share, kShortest, std::max(most, kShortest));
  ++visits_;
  return Visit{position_, asked_};
}

void Timetable::visited(const Histogram& samples, bool over) {
  const bool enough = round_ + 1 >= kFewestVisits && reached(samples, goal_);
  over_[size_t(position_)] = over || enough;
  visited_[size_t(position_)] = 1;
}

std::vector<int> Timetable::finished() {
  std::vector<int> points;
  while (reported_ < done_) points.push_back(reported_++);
  return points;
}

double Timetable::left(double elapsed) const {
  const double rest = std::max(budget_ - elapsed, one_visit_each(block_end()));
  return done_ == points_ ? 0 : std::clamp(rest, 0.0, std::max(deadline_ - elapsed, 0.0));
}

}  // namespace haichi::measure
