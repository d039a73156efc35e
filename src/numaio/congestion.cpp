#include "numaio/congestion.h"

#include <algorithm>

namespace haichi::numaio {
namespace {

constexpr double kNone = 1e-12;      // cells below are taken for zero
constexpr double kEnough = 1.01;     // over the proved least
constexpr size_t kStepsPerRow = 10;  // far more than are ever needed

}  // namespace

void Congestion::begin(std::span<const double> fixed_seconds) {
  fixed_.assign(fixed_seconds.begin(), fixed_seconds.end());
  amounts_.clear();
  load_of_.clear();
  first_.clear();
  uses_.clear();
}

void Congestion::add_load(double amount) {
  amounts_.push_back(amount);
  first_.push_back(load_of_.size());
}

void Congestion::add_column() { load_of_.push_back(amounts_.size() - 1); }

void Congestion::add_use(size_t resource, double seconds) {
  uses_.push_back({load_of_.size() - 1, resource, seconds});
}

// All of each load is in its first column, the basic one; T is the time of the resource that is
// used longest, whose slack is not basic, in the last of the nonbasic places.
void Congestion::fill() {
  const size_t columns = load_of_.size(), loads = amounts_.size(), resources = fixed_.size();
  std::vector<double>& used = least_;
  used = fixed_;
  for (const Use& use : uses_)
    if (first_[load_of_[use.column]] == use.column)
      used[use.resource] += use.seconds * amounts_[load_of_[use.column]];
  const auto tight = size_t(std::max_element(used.begin(), used.end()) - used.begin());
  width_ = columns - loads + 2;  // the last cell is the constant
  height_ = resources - 1 + loads + 1;
  cells_.assign(width_ * height_, 0);
  basic_.clear();
  nonbasic_.clear();
  const auto place = [&](size_t column) { return column - load_of_[column] - 1; };
  const auto row_of = [&](size_t resource) {
    return resource == tight ? height_ - 1 : resource - (resource > tight ? 1 : 0);
  };
  for (size_t r = 0; r < resources; ++r)
    if (r != tight) basic_.push_back(columns + r);
  for (size_t k = 0; k < loads; ++k) basic_.push_back(first_[k]);
  for (size_t c = 0; c < columns; ++c)
    if (c != first_[load_of_[c]]) nonbasic_.push_back(c);
  nonbasic_.push_back(columns + tight);

  double* const total = row(height_ - 1);
  total[width_ - 1] = used[tight];
  // The slack of the tight resource adds to T.
  total[width_ - 2] = 1;
  for (const Use& use : uses_) {
    const size_t load = load_of_[use.column];
    double* const cells = row(row_of(use.resource));
    const double sign = use.resource == tight ? 1 : -1;
    if (first_[load] != use.column) {
      cells[place(use.column)] += sign * use.seconds;
      continue;
    }
    const size_t end = load + 1 < loads ? first_[load + 1] : columns;
    for (size_t c = use.column + 1; c < end; ++c) cells[place(c)] -= sign * use.seconds;
  }
  for (size_t r = 0; r < resources; ++r) {
    if (r == tight) continue;
    double* const cells = row(row_of(r));
    for (size_t i = 0; i + 1 < width_; ++i) cells[i] += total[i];
    cells[width_ - 1] = used[tight] - used[r];
  }
  for (size_t k = 0; k < loads; ++k) {
    double* const cells = row(resources - 1 + k);
    const size_t end = k + 1 < loads ? first_[k + 1] : columns;
    for (size_t c = first_[k] + 1; c < end; ++c) cells[place(c)] = -1;
    cells[width_ - 1] = amounts_[k];
  }
}

void Congestion::pivot(size_t leaves, size_t enters) {
  double* const own = row(leaves);
  const double divisor = own[enters];
  for (size_t i = 0; i < width_; ++i) own[i] /= -divisor;
  own[enters] = 1 / divisor;
  for (size_t r = 0; r < height_; ++r) {
    double* const cells = row(r);
    const double factor = cells[enters];
    if (r == leaves || (factor < kNone && factor > -kNone)) continue;
    cells[enters] = 0;
    for (size_t i = 0; i < width_; ++i) cells[i] += factor * own[i];
  }
  std::swap(basic_[leaves], nonbasic_[enters]);
}

// False when T is near enough to the least, or nothing makes it less.
bool Congestion::step() {
  const double* const total = row(height_ - 1);
  const size_t columns = load_of_.size();
  size_t enters = width_;
  double steepest = -kNone, gain = 0;
  least_.assign(amounts_.size(), 0);
  for (size_t i = 0; i + 1 < width_; ++i) {
    if (total[i] >= -kNone) continue;
    if (total[i] < steepest) {
      steepest = total[i];
      enters = i;
    }
    // No load can lessen T by more than its amount times its best column.
    if (nonbasic_[i] < columns) {
      double& best = least_[load_of_[nonbasic_[i]]];
      best = std::min(best, total[i]);
    } else {
      gain = total[width_ - 1];  // a slack may be anything: no bound
    }
  }
  if (enters == width_) return false;
  for (size_t k = 0; k < amounts_.size(); ++k) gain -= least_[k] * amounts_[k];
  if (total[width_ - 1] <= kEnough * (total[width_ - 1] - gain)) return false;

  size_t leaves = height_;
  double nearest = 0;
  for (size_t r = 0; r + 1 < height_; ++r) {
    const double* const cells = row(r);
    if (cells[enters] >= -kNone) continue;
    const double reach = std::max(cells[width_ - 1], 0.0) / -cells[enters];
    if (leaves == height_ || reach < nearest) {
      leaves = r;
      nearest = reach;
    }
  }
  if (leaves == height_) return false;
  pivot(leaves, enters);
  return true;
}

double Congestion::solve() {
  fill();
  for (size_t left = kStepsPerRow * height_; left > 0 && step(); --left) {
  }
  carried_.assign(load_of_.size(), 0);
  for (size_t r = 0; r + 1 < height_; ++r)
    if (basic_[r] < carried_.size()) carried_[basic_[r]] = std::max(row(r)[width_ - 1], 0.0);
  return row(height_ - 1)[width_ - 1];
}

}  // namespace haichi::numaio
