#include "sim/network.h"

#include <errno.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/number_text.h"

namespace haichi::sim {
namespace {

constexpr int kMostDimensions = 16;
constexpr int64_t kLargestBox = 1 << 24;

class Crossbar : public Network {
 public:
  Crossbar(const Machine& machine, int nodes) : Network(machine, nodes) {}

 private:
  int route(int, int node) const override { return port_in(node); }
};

// After the ports: for each switch its links up, then for each switch its links down.
class FatTree : public Network {
 public:
  FatTree(const Machine& machine, int nodes, int per_switch, double taper)
      : Network(machine, nodes),
        per_switch_(per_switch),
        ups_(std::max(1, int(double(per_switch) / taper))),
        switches_((nodes + per_switch - 1) / per_switch) {
    const Link link{machine.link_gbs, from_nanoseconds(machine.hop_ns)};
    links_.resize(links_.size() + size_t(2 * switches_ * ups_), link);
  }

 private:
  int route(int link, int node) const override {
    const int target = node / per_switch_, way = node % ups_;
    if (link < nodes_)
      return link / per_switch_ == target ? port_in(node) : up(link / per_switch_, way);
    const bool going_up = link < up(switches_, 0);
    return going_up ? up(switches_ + target, way) : port_in(node);
  }
  int up(int at, int way) const { return 2 * nodes_ + at * ups_ + way; }

  int per_switch_, ups_, switches_;
};

// After the ports: for each place of the box and each dimension the link up, then the link down.
class Box : public Network {
 public:
  Box(const Machine& machine, int nodes, std::vector<int> shape, bool torus)
      : Network(machine, nodes), shape_(std::move(shape)), torus_(torus) {
    int64_t places = 1;
    for (const int extent : shape_) places *= extent;
    stride_.resize(shape_.size());
    int64_t stride = 1;
    for (size_t d = shape_.size(); d-- > 0; stride *= shape_[d]) stride_[d] = int(stride);
    const Link link{machine.link_gbs, from_nanoseconds(machine.hop_ns)};
    links_.resize(links_.size() + size_t(places) * shape_.size() * 2, link);
  }

 private:
  int route(int link, int node) const override {
    const int place = link < nodes_ ? link : end_of(link);
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int extent = shape_[d];
      const int way = coordinate(node, d) - coordinate(place, d);
      if (way == 0) continue;
      const int ahead = way > 0 ? way : way + extent;
      const bool up = torus_ ? 2 * ahead <= extent : way > 0;
      return 2 * nodes_ + (place * int(shape_.size()) + int(d)) * 2 + (up ? 0 : 1);
    }
    return port_in(node);
  }
  int coordinate(int place, size_t d) const { return place / stride_[d] % shape_[d]; }
  // The place to which a link between places leads.
  int end_of(int link) const {
    const int index = link - 2 * nodes_, dimensions = int(shape_.size());
    const int place = index / (2 * dimensions);
    const size_t d = size_t(index / 2 % dimensions);
    const int at = coordinate(place, d), extent = shape_[d];
    const int to = index % 2 == 0 ? (at + 1 == extent ? 0 : at + 1) : (at == 0 ? extent : at) - 1;
    return place + (to - at) * stride_[d];
  }

  std::vector<int> shape_, stride_;
  bool torus_;
};

template <class Integer>
std::optional<Integer> number(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The parts of a text between separators.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<std::unique_ptr<Network>> box(const Machine& machine, int nodes, std::string_view text,
                                     bool torus) {
  std::vector<int> shape;
  int64_t places = 1;
  for (const std::string_view part : split(text, 'x')) {
    const auto extent = number<int>(part);
    if (!extent || *extent < 1 || *extent > kLargestBox || shape.size() == kMostDimensions ||
        (places *= *extent) > kLargestBox)
      return fail(EINVAL, "{} is no box: write its extents as in 4x4x6, at most {} of them",
                  text.empty() ? "nothing" : text, kMostDimensions);
    shape.push_back(*extent);
  }
  if (places < nodes)
    return fail(EINVAL, "a box of {} has {} places for {} nodes", text, places, nodes);
  return std::make_unique<Box>(machine, nodes, std::move(shape), torus);
}

}  // namespace

Network::Network(const Machine& machine, int nodes) : nodes_(nodes) {
  links_.resize(size_t(nodes), {machine.out_gbs, from_nanoseconds(machine.latency_ns)});
  links_.resize(size_t(nodes) * 2, {machine.in_gbs, 0});
}

Result<std::unique_ptr<Network>> make_network(const Machine& machine, int nodes) {
  const std::vector<std::string_view> parts = split(machine.network, ':');
  if (machine.network == "crossbar") return std::make_unique<Crossbar>(machine, nodes);
  if (parts[0] == "fattree" && parts.size() == 3) {
    const auto per_switch = number<int>(parts[1]);
    const auto taper = real_number(std::string(parts[2]));
    if (per_switch && *per_switch >= 1 && *per_switch <= kLargestBox && taper && *taper >= 1)
      return std::make_unique<FatTree>(machine, nodes, *per_switch, *taper);
  }
  if ((parts[0] == "torus" || parts[0] == "mesh") && parts.size() == 2)
    return box(machine, nodes, parts[1], parts[0] == "torus");
  return fail(EINVAL,
              "{} is no network: write crossbar, fattree:NODES:TAPER, torus:4x4x6 or mesh:4x4x6",
              machine.network);
}

}  // namespace haichi::sim
