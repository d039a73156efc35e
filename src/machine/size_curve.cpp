#include "machine/size_curve.h"

#include <algorithm>

namespace haichi::machine {

double SizeCurve::at(double size, Bound bound) const {
  const std::vector<double>& times = bound == Bound::low && !low.empty()     ? low
                                     : bound == Bound::high && !high.empty() ? high
                                                                             : seconds;
  if (size <= bytes.front()) return times.front();
  const auto beyond = std::lower_bound(bytes.begin(), bytes.end(), size);
  if (beyond != bytes.end()) {
    const size_t b = size_t(beyond - bytes.begin()), a = b - 1;
    return times[a] + (size - bytes[a]) / (bytes[b] - bytes[a]) * (times[b] - times[a]);
  }
  // From a size of at most half the last one: two that are close would tell little of how it grows.
  const size_t last = bytes.size() - 1;
  const auto half = std::upper_bound(bytes.begin(), bytes.end(), bytes[last] / 2);
  if (half == bytes.begin()) return times[last] * size / bytes[last];
  const size_t from = size_t(half - bytes.begin()) - 1;
  const double per_byte = (times[last] - times[from]) / (bytes[last] - bytes[from]);
  return times[last] + std::max(0.0, per_byte) * (size - bytes[last]);
}

}  // namespace haichi::machine
