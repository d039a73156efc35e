#include "topology/shape.h"

#include <errno.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/number_text.h"
#include "topology/split.h"

namespace haichi::topology {
namespace {

constexpr int kMostDimensions = 16;
constexpr int64_t kLargestBox = 1 << 24;

Result<Shape> box(Shape::Kind kind, std::string_view text) {
  Shape shape{.kind = kind};
  int64_t places = 1;
  for (const std::string_view part : split(text, 'x')) {
    const auto extent = whole_number(part);
    if (!extent || *extent < 1 || *extent > kLargestBox ||
        shape.extents.size() == kMostDimensions || (places *= *extent) > kLargestBox)
      return fail(EINVAL, "{} is no box: write its extents as in 4x4x6, at most {} of them",
                  text.empty() ? "nothing" : text, kMostDimensions);
    shape.extents.push_back(*extent);
  }
  return shape;
}

}  // namespace

int64_t Shape::places() const {
  if (!box()) return std::numeric_limits<int>::max();
  int64_t places = 1;
  for (const int extent : extents) places *= extent;
  return places;
}

Result<Shape> parse_shape(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (text == "crossbar") return Shape{};
  if (parts[0] == "fattree" && parts.size() == 3) {
    const auto per_switch = whole_number(parts[1]);
    const auto taper = real_number(std::string(parts[2]));
    if (per_switch && *per_switch >= 1 && *per_switch <= kLargestBox && taper && *taper >= 1)
      return Shape{.kind = Shape::Kind::fat_tree,
                   .per_switch = *per_switch,
                   .ups = std::max(1, int(double(*per_switch) / *taper))};
  }
  if (parts[0] == "mesh" && parts.size() == 2) return box(Shape::Kind::mesh, parts[1]);
  if (parts[0] == "torus" && parts.size() == 2) return box(Shape::Kind::torus, parts[1]);
  return fail(EINVAL,
              "{} is no network: write crossbar, fattree:NODES:TAPER, torus:4x4x6 or mesh:4x4x6",
              text);
}

}  // namespace haichi::topology
