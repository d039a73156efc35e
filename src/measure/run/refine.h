// Looks at sizes between those that were measured: where the curve needs them, and for switches.
#pragma once

#include <functional>
#include <vector>

#include "measure/records.h"
#include "measure/refinement.h"

namespace haichi::measure {

/// How refining asks for what it needs, and hands over what it has.
struct RefineCalls {
  /// Measures the point with another size.
  std::function<Found(int point, int64_t bytes)> measure;
  /// Keeps a point that was measured so; `role` as records have it.
  std::function<Status(const Point& point, const Found& found, const char* role)> keep;
  std::function<Status(const Point& point, const Switch& found)> keep_switch;
  /// Whether the time for this curve is over.
  std::function<bool()> over;
};

inline constexpr size_t kMostOfACurve = 30;  ///< points of a refined curve

struct RefineGoal {
  double within;  ///< what lines between points may err by
  bool refine, switches;
};

/// The points of each curve by size: those that have samples, of measurements of several sizes.
std::vector<std::vector<int>> curves_of(const std::vector<Point>& points,
                                        const std::vector<Found>& found);

/// One curve: its switches first, then sizes until lines err by little enough, both if asked for.
/// An error if keep fails.
Status refine_curve(const std::vector<int>& curve, const std::vector<Point>& points,
                    const std::vector<Found>& found, const RefineGoal& goal,
                    const RefineCalls& calls);

}  // namespace haichi::measure
