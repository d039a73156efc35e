#include "measure/refinement.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace haichi::measure {
namespace {

// A step is told from noise by this share of the time at least, whatever the intervals say: medians
// of visits differ by more than their intervals on machines that have other work.
constexpr double kLeastStep = 0.03;
// Between powers of four a bend looks like a step of some per cent.
constexpr double kWorthALook = 0.04;
constexpr size_t kMostSearches = 16;

// Between the two on a scale of powers; 0 if there is nothing between.
int64_t middle_of(const Known& a, const Known& b) {
  const double root = std::sqrt(double(a.bytes) * double(b.bytes));
  const int64_t middle = int64_t(std::llround(root / kSizeStep)) * kSizeStep;
  return middle > a.bytes && middle < b.bytes ? middle : 0;
}

double slope_of(const Known& a, const Known& b) {
  return (b.median - a.median) / double(b.bytes - a.bytes);
}

bool is_switch(const Known& a, const Known& b) { return b.bytes - a.bytes <= kSizeStep; }

std::vector<Known>::iterator place_of(std::vector<Known>& curve, int64_t bytes) {
  return std::upper_bound(curve.begin(), curve.end(), bytes,
                          [](int64_t size, const Known& known) { return size < known.bytes; });
}

// The gentler slope of the intervals beside the one that begins at point i, so that a step in one
// of them does not count; 0 if there is none.
double slope_beside(const std::vector<Known>& curve, size_t i) {
  std::vector<double> slopes;
  if (i > 0 && !is_switch(curve[i - 1], curve[i]))
    slopes.push_back(slope_of(curve[i - 1], curve[i]));
  if (i + 2 < curve.size() && !is_switch(curve[i + 1], curve[i + 2]))
    slopes.push_back(slope_of(curve[i + 1], curve[i + 2]));
  return slopes.empty() ? 0 : *std::min_element(slopes.begin(), slopes.end());
}

// Of the interval that begins at point i: what neither the slopes beside it nor the intervals of
// the medians explain, as a share; negative for a step down.
double step_at(const std::vector<Known>& curve, size_t i) {
  const Known &a = curve[i], &b = curve[i + 1];
  const double sloped = slope_beside(curve, i) * double(b.bytes - a.bytes);
  const double up = b.low - a.high - sloped, down = b.high - a.low - sloped;
  return (up > 0 ? up : std::min(down, 0.0)) / a.median;
}

// Whether a second look, in the other order, shows the step too: a machine that became slower
// between two visits does not.
bool holds(const Switch& first, const Switch& second) {
  const bool up = first.ratio() > 1;
  const Known &lesser = up ? second.below : second.above,
              &greater = up ? second.above : second.below;
  return greater.low > lesser.high && greater.median > (1 + kLeastStep) * lesser.median;
}

}  // namespace

double between(const Known& a, const Known& b, int64_t bytes) {
  return a.median + slope_of(a, b) * double(bytes - a.bytes);
}

Refinement::Refinement(std::vector<Known> curve, double within, size_t most)
    : curve_(std::move(curve)), within_(within), most_(most) {
  // What nobody has looked into is as bad as its ends tell when they are left out themselves.
  for (size_t i = 0; i + 1 < curve_.size(); ++i)
    expected_.push_back(std::max(left_out(i), left_out(i + 1)));
}

// By how much the line past point i misses it; 0 at the ends of a piece.
double Refinement::left_out(size_t i) const {
  if (i == 0 || i + 1 >= curve_.size()) return 0;
  const Known &before = curve_[i - 1], &at = curve_[i], &behind = curve_[i + 1];
  if (is_switch(before, at) || is_switch(at, behind)) return 0;
  return std::abs(between(before, behind, at.bytes) / at.median - 1);
}

size_t Refinement::worst_interval() const {
  size_t best = expected_.size();
  double most = 0;
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (expected_[i] <= within_ || middle_of(curve_[i], curve_[i + 1]) == 0) continue;
    const double weight =
        expected_[i] * std::log2(double(curve_[i + 1].bytes) / double(curve_[i].bytes));
    if (weight <= most) continue;
    most = weight;
    best = i;
  }
  return best;
}

std::optional<int64_t> Refinement::next() const {
  const size_t i = worst_interval();
  if (i == expected_.size() || curve_.size() >= most_) return std::nullopt;
  return middle_of(curve_[i], curve_[i + 1]);
}

void Refinement::add(const Known& point) {
  const auto behind = place_of(curve_, point.bytes);
  const size_t i = size_t(behind - curve_.begin());
  const Known a = curve_[i - 1], b = curve_[i];
  const double miss = std::abs(between(a, b, point.bytes) / point.median - 1);
  const double unexplained = std::max(miss - point.noise() - std::max(a.noise(), b.noise()), 0.0);
  curve_.insert(behind, point);
  expected_[i - 1] = unexplained;
  expected_.insert(expected_.begin() + std::ptrdiff_t(i), unexplained);
}

std::optional<int64_t> SwitchSearch::next() const {
  const int64_t steps = (above_.bytes - below_.bytes) / kSizeStep;
  if (steps < 2) return std::nullopt;
  return below_.bytes + steps / 2 * kSizeStep;
}

void SwitchSearch::add(const Known& point) {
  const double left = slope_of(below_, point), right = slope_of(point, above_);
  slope_ = up_ ? std::min(left, right) : std::max(left, right);
  (up_ == (left > right) ? above_ : below_) = point;
}

std::optional<Switch> SwitchSearch::found() const {
  if (next()) return std::nullopt;
  const double apart = up_ ? above_.low - below_.high : below_.low - above_.high;
  const double step = above_.median - below_.median - slope_ * double(above_.bytes - below_.bytes);
  if (apart <= 0 || (up_ ? step : -step) < kLeastStep * below_.median) return std::nullopt;
  return Switch{below_, above_};
}

std::vector<Switch> find_switches(std::vector<Known>& curve, size_t most,
                                  const MeasureSize& measure) {
  std::vector<Switch> switches;
  std::set<std::pair<int64_t, int64_t>> tried;
  while (curve.size() + 2 <= most && tried.size() < kMostSearches) {
    size_t best = curve.size();
    double largest = kWorthALook;
    for (size_t i = 0; i + 1 < curve.size(); ++i) {
      const double step = std::abs(step_at(curve, i));
      if (is_switch(curve[i], curve[i + 1]) || step < largest) continue;
      if (tried.count({curve[i].bytes, curve[i + 1].bytes})) continue;
      largest = step;
      best = i;
    }
    if (best == curve.size()) break;
    tried.insert({curve[best].bytes, curve[best + 1].bytes});
    SwitchSearch search(curve[best], curve[best + 1], step_at(curve, best) > 0);
    while (const auto size = search.next()) {
      const auto point = measure(*size);
      if (!point) return switches;
      search.add(*point);
    }
    const auto found = search.found();
    if (!found) continue;
    const auto above = measure(found->above.bytes), below = measure(found->below.bytes);
    if (!above || !below) return switches;
    if (!holds(*found, Switch{*below, *above})) continue;
    switches.push_back(*found);
    for (const Known& end : {found->below, found->above}) {
      const auto place = place_of(curve, end.bytes);
      if (place == curve.begin() || (place - 1)->bytes != end.bytes) curve.insert(place, end);
    }
  }
  return switches;
}

}  // namespace haichi::measure
