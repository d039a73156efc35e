#include "measure/suite/computation.h"

#include <algorithm>

#include "base/clock.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr int64_t kTrialRounds = 20'000;
constexpr int kTrials = 5;

}  // namespace

void compute(int64_t rounds) {
  static volatile double kept = 1;  // so that the work is done
  double value = kept;
  for (int64_t i = 0; i < rounds; ++i) value = value * 0.999999 + 1e-6;
  kept = value;
}

int64_t rounds_of(double seconds) {
  double least = 1;
  for (int i = 0; i < kTrials; ++i) {
    const int64_t begin = now_ns();
    compute(kTrialRounds);
    least = std::min(least, double(now_ns() - begin) * kNano);
  }
  return std::max<int64_t>(1, int64_t(seconds / std::max(least, kNano) * double(kTrialRounds)));
}

}  // namespace haichi::measure
