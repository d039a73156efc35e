#include "topology/shape.h"

#include <errno.h>

#include <algorithm>
#include <limits>
#include <span>
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

// The words behind the name, of which the last may be the number of groups.
Result<Shape> dragonfly(bool plus, std::span<const std::string_view> words) {
  std::vector<int> numbers;
  for (const std::string_view word : words) {
    const auto number = whole_number(word);
    if (!number || *number < 1 || *number > kLargestBox)
      return fail(EINVAL, "{} is no number from 1", word.empty() ? "nothing" : word);
    numbers.push_back(*number);
  }
  const size_t least = plus ? 4 : 3;
  if (numbers.size() != least && numbers.size() != least + 1)
    return fail(EINVAL, "{} numbers, where it takes {} or {}", numbers.size(), least, least + 1);
  Shape shape{.kind = Shape::Kind::dragonfly, .ups = numbers[least - 1]};
  if (plus) shape.spines = numbers[2];
  const int64_t most = int64_t{plus ? numbers[2] : numbers[1]} * shape.ups + 1;
  const int64_t groups = numbers.size() > least ? numbers[least] : most;
  if (groups > most)
    return fail(EINVAL, "{} groups, where a group has links to {} others", groups, most - 1);
  const int64_t switches = int64_t{numbers[1]} + shape.spines;
  for (const int64_t of_a_group : {int64_t{numbers[0]} * numbers[1], switches * switches, most - 1})
    if (groups > kLargestBox / of_a_group)
      return fail(EINVAL, "more than {} places or links", kLargestBox);
  shape.extents = {int(groups), numbers[1], numbers[0]};
  return shape;
}

// A dragonfly of either kind. What is wrong with it is said behind its text.
Result<Shape> parse_dragonfly(std::string_view text, std::span<const std::string_view> parts) {
  auto shape = dragonfly(parts[0] == "dragonfly+", parts.subspan(1));
  if (!shape)
    return fail(EINVAL,
                "{} is no network: {}; write dragonfly:NODES:ROUTERS:LINKS[:GROUPS][:adaptive] or "
                "dragonfly+:NODES:LEAVES:SPINES:LINKS[:GROUPS][:adaptive]",
                text, shape.error().text);
  return shape;
}

}  // namespace

int64_t Shape::places() const {
  if (extents.empty()) return std::numeric_limits<int>::max();
  int64_t places = 1;
  for (const int extent : extents) places *= extent;
  return places;
}

Result<Shape> parse_shape(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 2 && parts.back() == "adaptive" && parts[0] != "mesh" && parts[0] != "torus") {
    auto shape = parse_shape(text.substr(0, text.rfind(':')));
    if (shape) shape->adaptive = true;
    return shape;
  }
  if (parts[0] == "dragonfly" || parts[0] == "dragonfly+") return parse_dragonfly(text, parts);
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
              "{} is no network: write crossbar, fattree:NODES:TAPER, torus:4x4x6, mesh:4x4x6, "
              "dragonfly:NODES:ROUTERS:LINKS or dragonfly+:NODES:LEAVES:SPINES:LINKS",
              text);
}

}  // namespace haichi::topology
