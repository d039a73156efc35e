// Samples in little memory: how many fell into each of many narrow bins, the same everywhere, so
// that histograms of several visits, launches and files can be added.
//
// Bin b holds the times from 2^(b/128) to 2^((b+1)/128) picoseconds: 0.54 % wide, and what is read
// out of it is its middle, so at most 0.28 % wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace haichi::measure {

class Histogram {
 public:
  /// `seconds` below one picosecond count as one.
  void add(double seconds, int64_t times = 1);

  int64_t count() const { return count_; }
  double sum() const { return sum_; }
  double least() const { return least_; }
  double most() const { return most_; }
  /// The k-th smallest sample, k from 0 to count() - 1; the smallest and the largest are exact.
  double at(int64_t k) const;
  /// The sample below which the share `q` of all lies: the nearest, none in between. Of an empty
  /// histogram 0.
  double quantile(double q) const;
  const std::map<int, int64_t>& bins() const { return bins_; }

  static int bin_of(double seconds);
  static double middle_of(int bin);

 private:
  std::map<int, int64_t> bins_;
  int64_t count_ = 0;
  double sum_ = 0, least_ = 0, most_ = 0;
};

/// The interval that holds the median of what the samples were drawn from with a probability of at
/// least 95 %, whatever its distribution: two order statistics (Hoefler and Belli, SC'15, rule 5;
/// Le Boudec, "Performance Evaluation", 2.2.2). Nothing for fewer than six samples.
struct Interval {
  double low, high;
};
std::optional<Interval> median_interval(const Histogram& samples);

}  // namespace haichi::measure
