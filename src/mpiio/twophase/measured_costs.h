// What a byte costs on a node's link and at an aggregator's file, as the last accesses in two
// phases of some ranks have shown: how much a node may handle follows from it (plan/node_share.h).
//
// All ranks must be told the same of the same accesses, so that they plan alike.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "mpiio/twophase/two_phase_plan.h"

namespace haichi::mpiio {

class MeasuredCosts {
 public:
  /// An access took so long on the slowest rank, and the file of the slowest aggregator so much of
  /// it.
  void took(const TwoPhasePlan& plan, int64_t access_ns, int64_t file_ns) {
    // What is not the file's is the link's: no more than that, where both overlap.
    if (plan.busiest_link >= kLeastBytes)
      link_.add(double(std::max<int64_t>(0, access_ns - file_ns)) / double(plan.busiest_link));
    if (plan.busiest_aggregator >= kLeastBytes)
      file_.add(double(file_ns) / double(plan.busiest_aggregator));
  }

  /// Nothing on one sample of either. Of the last ones the cheapest link and the dearest file: one
  /// that was held up by something else gives no node more to handle.
  std::optional<plan::ByteCosts> costs() const {
    if (link_.count < 2 || file_.count < 2) return std::nullopt;
    return plan::ByteCosts{
        .link = *std::min_element(link_.begin(), link_.end()),
        .file = *std::max_element(file_.begin(), file_.end()),
        .from = "in accesses before",
    };
  }

 private:
  // Fewer are about messages and system calls.
  static constexpr int64_t kLeastBytes = 64 << 10;

  /// The last ones.
  struct Samples {
    std::array<double, 3> last = {};
    size_t count = 0;
    void add(double sample) { last[count++ % last.size()] = sample; }
    const double* begin() const { return last.data(); }
    const double* end() const { return last.data() + std::min(count, last.size()); }
  };
  Samples link_, file_;
};

}  // namespace haichi::mpiio
