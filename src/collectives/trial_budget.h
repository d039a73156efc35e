// What trials may cost: a share of the time that a program spends in calls of one kind, and what
// earlier trials have gained since. A job that ends at any time has then lost no more than that
// share, and by how much one trial was worse than expected.
//
// Seconds, agreed by all ranks, so that all of them see the same balance.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace haichi::collectives {

struct TrialBudget {
  double share = 0.02;  ///< of the time of all calls; infinite: anything may be tried
  double balance = 0;   ///< what may be spent now; negative after a trial that was worse

  bool unlimited() const { return std::isinf(share); }
  bool allows(double excess) const { return unlimited() || balance >= excess; }
  /// Calls of the usual way took so long.
  void earned(double seconds) {
    if (!unlimited()) balance += share * seconds;
  }
  /// Calls took `seconds` in place of `usual`: a trial, or calls of what trials have found.
  void took(double seconds, double usual) { balance += usual - seconds; }
  void spent(double seconds) { balance -= seconds; }
  /// Calls until so much is allowed, each of which takes `seconds` in place of `usual`.
  /// At least 1, at most `most`.
  int64_t calls_until(double excess, double seconds, double usual, int64_t most) const {
    const double each = share * seconds + std::max(0.0, usual - seconds);
    if (!(each > 0)) return most;
    return int64_t(std::clamp(std::ceil((excess - balance) / each), 1.0, double(most)));
  }
};

}  // namespace haichi::collectives
