#include "topology/seats.h"

#include <errno.h>
#include <fmt/ranges.h>

#include <map>
#include <numeric>

#include "base/number_text.h"
#include "topology/split.h"

namespace haichi::topology {
namespace {

/// The place of coordinates, or -1.
int64_t place_in_box(const Shape& shape, std::string_view address) {
  const std::vector<std::string_view> parts = split(address, ',');
  if (parts.size() != shape.extents.size()) return -1;
  int64_t place = 0;
  for (size_t d = 0; d < parts.size(); ++d) {
    const auto at = whole_number(parts[d]);
    if (!at || *at < 0 || *at >= shape.extents[d]) return -1;
    place = place * shape.extents[d] + *at;
  }
  return place;
}

/// Gives the nodes below a switch places side by side.
class Switches {
 public:
  explicit Switches(const Shape& shape) : per_switch_(shape.per_switch) {}
  /// The next place below the switch that an address names, or -1 if there is none.
  int64_t next_place(std::string_view address) {
    const size_t dot = address.rfind('.');
    if (dot == address.npos) return -1;
    auto [found, first] =
        taken_.try_emplace(std::string(address.substr(0, dot)), Below{int64_t(taken_.size()), 0});
    Below& below = found->second;
    return below.nodes == per_switch_ ? -1 : below.number * per_switch_ + below.nodes++;
  }

 private:
  struct Below {
    int64_t number;  // of the switch
    int nodes;
  };
  int per_switch_;
  std::map<std::string, Below> taken_;
};

}  // namespace

Result<std::vector<int>> seats_of(const Shape& shape, std::span<const std::string> addresses) {
  std::vector<int> seats(addresses.size());
  std::iota(seats.begin(), seats.end(), 0);
  if (shape.kind == Shape::Kind::crossbar) return seats;
  const bool named = !shape.extents.empty();
  Switches switches(shape);
  std::map<int64_t, size_t> who;
  for (size_t n = 0; n < addresses.size(); ++n) {
    const std::string& address = addresses[n];
    const auto number = whole_number(address);
    int64_t place = number ? *number : -1;
    if (!number) place = named ? place_in_box(shape, address) : switches.next_place(address);
    if (place < 0 || place >= shape.places())
      return fail(
          EINVAL, "the address \"{}\" of node {} is no place of the network; write {}", address, n,
          named ? fmt::format("coordinates below {}, as in {}", fmt::join(shape.extents, "x"),
                              fmt::join(std::vector<int>(shape.extents.size(), 0), ","))
                : fmt::format("switch.node, at most {} nodes a switch", shape.per_switch));
    const auto [other, first] = who.try_emplace(place, n);
    if (!first)
      return fail(EINVAL, "nodes {} and {} have the same address \"{}\"", other->second, n,
                  address);
    seats[n] = int(place);
  }
  return seats;
}

}  // namespace haichi::topology
