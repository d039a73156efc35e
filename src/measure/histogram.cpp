#include "measure/histogram.h"

#include <algorithm>
#include <cmath>

namespace haichi::measure {
namespace {

constexpr double kPicosecond = 1e-12;
constexpr int kBinsPerOctave = 128;
constexpr int64_t kFewestForAnInterval = 6;  // 2 * 0.5^6 is the first below 5 %
constexpr int64_t kManySamples = 1000;  // from here on the normal approximation is exact enough

// The largest d, counted from both ends, such that fewer than d of n fair coins show heads with a
// probability of at most 2.5 %: the sum of the binomial probabilities up to d - 1.
int64_t binomial_depth(int64_t n) {
  if (n > kManySamples) return int64_t(std::floor((double(n) - 1.96 * std::sqrt(double(n))) / 2));
  double sum = 0, term = std::pow(0.5, double(n));
  int64_t depth = 0;
  for (int64_t k = 0; k < n; ++k) {
    sum += term;
    if (sum > 0.025) break;
    depth = k + 1;
    term *= double(n - k) / double(k + 1);
  }
  return depth;
}

}  // namespace

int Histogram::bin_of(double seconds) {
  const double picoseconds = std::max(seconds / kPicosecond, 1.0);
  return int(std::floor(std::log2(picoseconds) * kBinsPerOctave));
}

double Histogram::middle_of(int bin) {
  return std::exp2((bin + 0.5) / kBinsPerOctave) * kPicosecond;
}

void Histogram::add(double seconds, int64_t times) {
  least_ = count_ == 0 ? seconds : std::min(least_, seconds);
  most_ = count_ == 0 ? seconds : std::max(most_, seconds);
  bins_[bin_of(seconds)] += times;
  count_ += times;
  sum_ += seconds * double(times);
}

double Histogram::at(int64_t k) const {
  if (k <= 0) return least_;
  if (k >= count_ - 1) return most_;
  for (const auto& [bin, times] : bins_) {
    if (k < times) return std::clamp(middle_of(bin), least_, most_);
    k -= times;
  }
  return most_;
}

double Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  return at(int64_t(std::floor(q * double(count_ - 1) + 0.5)));
}

std::optional<Interval> median_interval(const Histogram& samples) {
  const int64_t n = samples.count();
  if (n < kFewestForAnInterval) return std::nullopt;
  const int64_t depth = binomial_depth(n);
  return Interval{samples.at(depth - 1), samples.at(n - depth)};
}

}  // namespace haichi::measure
