#include "sim/network.h"

#include <errno.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "topology/dragonfly.h"
#include "topology/shape.h"

namespace haichi::sim {
namespace {

using Seats = std::vector<int>;  // the place of each node
constexpr int kMostSeats = 1 << 24;

class Crossbar : public Network {
 public:
  Crossbar(const Machine& machine, int nodes) : Network(machine, nodes) {}

 private:
  int route(int, int node, uint16_t) const override { return port_in(node); }
};

// After the ports: for each switch its links up, then for each switch its links down.
class FatTree : public Network {
 public:
  FatTree(const Machine& machine, Seats seats, const topology::Shape& shape)
      : Network(machine, int(seats.size())),
        seats_(std::move(seats)),
        per_switch_(shape.per_switch),
        ups_(shape.ups),
        adaptive_(shape.adaptive),
        switches_(*std::max_element(seats_.begin(), seats_.end()) / per_switch_ + 1) {
    const Link link{machine.link_gbs, from_nanoseconds(machine.hop_ns)};
    links_.resize(links_.size() + 2 * size_t(switches_) * size_t(ups_), link);
  }

  // A way is a link up, counted from 1, and the one down of the same number.
  bool adapts() const override { return adaptive_; }
  uint16_t choose(int from, int to, const Congestion& congestion, uint64_t) const override {
    const int source = seats_[size_t(from)] / per_switch_,
              target = seats_[size_t(to)] / per_switch_;
    if (source == target) return 0;
    int best = seats_[size_t(to)] % ups_;
    Time least = std::numeric_limits<Time>::max();
    for (int i = 0; i < std::min(ups_, int{UINT16_MAX}); ++i) {
      const int way = (seats_[size_t(to)] + i) % ups_;
      const Time wait = std::max(congestion.before(up(source, way)),
                                 congestion.before(up(switches_ + target, way)));
      if (wait < least) best = way;
      least = std::min(least, wait);
    }
    return uint16_t(best + 1);
  }

 private:
  int route(int link, int node, uint16_t chosen) const override {
    const int target = seats_[size_t(node)] / per_switch_;
    const int way = chosen > 0 ? chosen - 1 : seats_[size_t(node)] % ups_;
    if (link < nodes_) {
      const int from = seats_[size_t(link)] / per_switch_;
      return from == target ? port_in(node) : up(from, way);
    }
    const bool going_up = link < up(switches_, 0);
    return going_up ? up(switches_ + target, way) : port_in(node);
  }
  int up(int at, int way) const { return 2 * nodes_ + at * ups_ + way; }

  Seats seats_;
  int per_switch_, ups_;
  bool adaptive_;
  int switches_;
};

// After the ports: for each place of the box and each dimension the link up, then the link down.
class Box : public Network {
 public:
  Box(const Machine& machine, Seats seats, const topology::Shape& shape)
      : Network(machine, int(seats.size())),
        seats_(std::move(seats)),
        extents_(shape.extents),
        torus_(shape.kind == topology::Shape::Kind::torus) {
    const size_t dimensions = extents_.size(), places = size_t(shape.places());
    coordinates_.resize(places * dimensions);
    for (size_t place = 0; place < places; ++place)
      for (size_t d = dimensions, rest = place; d-- > 0; rest /= size_t(extents_[d]))
        coordinates_[place * dimensions + d] = int(rest % size_t(extents_[d]));
    std::vector<int> stride(dimensions, 1);
    for (size_t d = dimensions; d-- > 1;) stride[d - 1] = stride[d] * extents_[d];
    for (size_t place = 0; place < places; ++place)
      for (size_t d = 0; d < dimensions; ++d) {
        const int at = coordinates_[place * dimensions + d], extent = extents_[d];
        const int up = at + 1 == extent ? 0 : at + 1, down = (at == 0 ? extent : at) - 1;
        ends_.push_back(int(place) + (up - at) * stride[d]);
        ends_.push_back(int(place) + (down - at) * stride[d]);
      }
    const Link link{machine.link_gbs, from_nanoseconds(machine.hop_ns)};
    links_.resize(links_.size() + ends_.size(), link);
  }

  // Along one dimension of a torus links lead round in a circle. A packet changes its lane where
  // the coordinates begin anew, so that the lanes don't (W. Dally, C. Seitz, IEEE ToC C-36(5),
  // 1987).
  int lanes() const override { return torus_ ? 2 : 1; }
  int lane(int lane, int from, int to) const override {
    if (!torus_ || from < 2 * nodes_ || to < 2 * nodes_) return 0;
    const int links = 2 * int(extents_.size());  // of a place
    const int between = from - 2 * nodes_, along = between % links;
    if (along != (to - 2 * nodes_) % links) return 0;
    const size_t d = size_t(along / 2);
    const int begin = coordinates_[size_t(between / links) * extents_.size() + d];
    const bool anew = along % 2 == 0 ? begin + 1 == extents_[d] : begin == 0;
    return anew ? 1 : lane;
  }

 private:
  int route(int link, int node, uint16_t) const override {
    const int place = link < nodes_ ? seats_[size_t(link)] : ends_[size_t(link - 2 * nodes_)];
    const size_t dimensions = extents_.size();
    const int* const from = &coordinates_[size_t(place) * dimensions];
    const int* const to = &coordinates_[size_t(seats_[size_t(node)]) * dimensions];
    for (size_t d = 0; d < dimensions; ++d) {
      if (from[d] == to[d]) continue;
      const int steps = topology::steps_along(torus_, extents_[d], from[d], to[d]);
      return 2 * nodes_ + (place * int(dimensions) + int(d)) * 2 + (steps > 0 ? 0 : 1);
    }
    return port_in(node);
  }

  Seats seats_;
  std::vector<int> extents_;
  std::vector<int> coordinates_;  // of each place, one for each dimension
  std::vector<int> ends_;         // the place to which each link between places leads
  bool torus_;
};

// After the ports: the links of topology/dragonfly.h.
class Dragonfly : public Network {
 public:
  Dragonfly(const Machine& machine, Seats seats, const topology::Shape& shape)
      : Network(machine, int(seats.size())),
        seats_(std::move(seats)),
        adaptive_(shape.adaptive),
        links_between_(shape) {
    const Link link{machine.link_gbs, from_nanoseconds(machine.hop_ns)};
    links_.resize(links_.size() + size_t(links_between_.links()), link);
  }

  // Between groups the lane is the number of the group on the way, from 0.
  int lanes() const override { return 3; }
  int lane(int lane, int from, int to) const override {
    if (from < 2 * nodes_ || to < 2 * nodes_) return 0;
    return lane + (links_between_.is_global(from - 2 * nodes_) ? 1 : 0);
  }

  // A way is a group to go to first, counted from 1 (L. Valiant, SIAM J. Comput. 11(2), 1982). Two
  // are drawn, and one is taken if what is under way over the links of its way is less, with the
  // latency of its links, than on the shortest way (UGAL-G of Kim et al.).
  bool adapts() const override { return adaptive_; }
  uint16_t choose(int from, int to, const Congestion& congestion, uint64_t draw) const override {
    const int groups = links_between_.groups();
    const int source = links_between_.group_of(seats_[size_t(from)]);
    const int target = links_between_.group_of(seats_[size_t(to)]);
    if (source == target) return 0;
    uint16_t best = 0;
    Time least = time_of(from, to, 0, congestion);
    for (const uint64_t each : {draw & UINT32_MAX, draw >> 32}) {
      const int via = int(each % uint64_t(groups));
      if (via == source || via == target || via >= UINT16_MAX) continue;
      const auto way = uint16_t(via + 1);
      const Time time = time_of(from, to, way, congestion);
      if (time < least) best = way;
      least = std::min(least, time);
    }
    return best;
  }

 private:
  int route(int link, int node, uint16_t way) const override {
    const int router = link < nodes_ ? links_between_.router_of(seats_[size_t(link)])
                                     : links_between_.end(link - 2 * nodes_);
    const int next = links_between_.next(router, seats_[size_t(node)], int{way} - 1);
    return next < 0 ? port_in(node) : 2 * nodes_ + next;
  }
  Time time_of(int from, int to, uint16_t way, const Congestion& congestion) const {
    Time time = 0;
    for (int link = next(port_out(from), to, way); link != port_in(to); link = next(link, to, way))
      time += congestion.before(link) + links_[size_t(link)].latency;
    return time;
  }

  Seats seats_;
  bool adaptive_;
  topology::Dragonfly links_between_;
};

Result<Seats> seats_of(const Machine& machine, int nodes, int64_t places) {
  if (places < nodes)
    return fail(EINVAL, "{} has {} places for {} nodes", machine.network, places, nodes);
  Seats seats = machine.seats;
  if (seats.empty()) {
    seats.resize(size_t(nodes));
    std::iota(seats.begin(), seats.end(), 0);
  }
  if (seats.size() != size_t(nodes))
    return fail(EINVAL, "{} seats for {} nodes", seats.size(), nodes);
  Seats sorted = seats;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    return fail(EINVAL, "two nodes have seat {}", *twice);
  const int64_t end = std::min<int64_t>(places, kMostSeats);
  if (sorted.front() < 0 || sorted.back() >= end)
    return fail(EINVAL, "{} has {} places: no room for a node on place {}", machine.network, end,
                sorted.front() < 0 ? sorted.front() : sorted.back());
  return seats;
}

}  // namespace

Network::Network(const Machine& machine, int nodes) : nodes_(nodes) {
  links_.resize(size_t(nodes), {machine.out_gbs, from_nanoseconds(machine.latency_ns)});
  links_.resize(size_t(nodes) * 2, {machine.in_gbs, 0});
}

Result<std::unique_ptr<Network>> make_network(const Machine& machine, int nodes) {
  const auto shape = topology::parse_shape(machine.network);
  if (!shape) return tl::unexpected(shape.error());
  if (nodes < 1) return fail(EINVAL, "a network for {} nodes", nodes);
  auto seats = seats_of(machine, nodes, shape->places());
  if (!seats) return tl::unexpected(seats.error());
  switch (shape->kind) {
    case topology::Shape::Kind::crossbar:
      return std::make_unique<Crossbar>(machine, nodes);
    case topology::Shape::Kind::fat_tree:
      return std::make_unique<FatTree>(machine, *std::move(seats), *shape);
    case topology::Shape::Kind::dragonfly:
      return std::make_unique<Dragonfly>(machine, *std::move(seats), *shape);
    case topology::Shape::Kind::mesh:
    case topology::Shape::Kind::torus:
      break;
  }
  return std::make_unique<Box>(machine, *std::move(seats), *shape);
}

}  // namespace haichi::sim
