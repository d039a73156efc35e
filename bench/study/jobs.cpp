#include "jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace haichi::study {
namespace {

using Extents = std::vector<int>;
using Seats = std::vector<int>;

int places(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
}

// All places of a box, in an order that looks like none: Knuth's multiplicative hash.
Seats shuffled(const Extents& extents) {
  Seats seats(size_t(places(extents)));
  std::iota(seats.begin(), seats.end(), 0);
  const auto hash = [](int seat) { return uint32_t(seat + 1) * 2654435761u; };
  std::sort(seats.begin(), seats.end(), [&](int a, int b) { return hash(a) < hash(b); });
  return seats;
}

class Jobs {
 public:
  void whole(std::string kind, const char* network, const Extents& extents, int per_node = 1) {
    part(std::move(kind), network, extents, extents, Extents(extents.size(), 0), per_node);
  }
  void part(std::string kind, const char* network, const Extents& machine, const Extents& job,
            const Extents& corner, int per_node = 1) {
    Seats seats = box_in(machine, job, corner);
    const int nodes = int(seats.size());
    std::string name = text(job);
    if (machine != job) name += fmt::format(" of {} {}", network, text(machine));
    if (machine == job && std::string(network) == "torus") name = "torus " + name;
    if (per_node > 1) name += fmt::format(", {} a node", per_node);
    add(std::move(kind), name, fmt::format("{}:{}", network, text(machine)), std::move(seats),
        placement::block(nodes, per_node));
  }
  // A box without some of its nodes.
  void holes(const char* network, const Extents& extents, int missing) {
    Seats seats = shuffled(extents);
    seats.resize(seats.size() - size_t(missing));
    std::sort(seats.begin(), seats.end());
    const int nodes = int(seats.size());
    add("holes", fmt::format("{} {} without {}", network, text(extents), missing),
        fmt::format("{}:{}", network, text(extents)), std::move(seats), placement::block(nodes, 1));
  }
  // Nodes of a box in any order: what a rank's neighbours are says nothing about where they are.
  void scattered(const char* network, const Extents& extents, int nodes) {
    Seats seats = shuffled(extents);
    seats.resize(size_t(nodes));
    add("scattered", fmt::format("{} of {} {}", nodes, network, text(extents)),
        fmt::format("{}:{}", network, text(extents)), std::move(seats), placement::block(nodes, 1));
  }
  void add(std::string kind, std::string name, std::string network, Seats seats,
           placement::Placement placement) {
    all_.push_back(
        {std::move(kind), std::move(name), std::move(network), std::move(seats), placement});
  }
  std::vector<Job> take() { return std::move(all_); }

 private:
  std::vector<Job> all_;
};

void boxes(Jobs& jobs) {
  for (const Extents& box : {Extents{4, 3, 2}, {8, 3, 1}, {4, 3, 4}})
    jobs.whole("paper 004", "mesh", box);
  for (const Extents& box :
       {Extents{2, 2, 2}, {4, 4}, {3, 3, 3}, {4, 4, 4}, {6, 4, 4}, {5, 5, 5}, {8, 6, 4}, {8, 8, 6}})
    jobs.whole("compact", "mesh", box);
  for (const Extents& box :
       {Extents{16, 2}, {12, 2, 2}, {16, 3, 2}, {48, 2}, {2, 48}, {24, 4, 2}, {48, 2, 2}})
    jobs.whole("stretched", "mesh", box);
  for (const int nodes : {6, 8, 16, 24, 48, 96}) jobs.whole("line", "mesh", {nodes});
}

void tori(Jobs& jobs) {
  for (const Extents& box :
       {Extents{16}, {48}, {8, 8}, {4, 4, 4}, {5, 5, 5}, {6, 4, 4}, {12, 4, 4}, {8, 6, 6}})
    jobs.whole("torus", "torus", box);
  jobs.part("wrap", "torus", {8, 8, 8}, {4, 4, 4}, {6, 0, 6});
  jobs.part("wrap", "torus", {24}, {12}, {18});
  jobs.part("wrap", "torus", {16, 4, 4}, {6, 4, 4}, {13, 0, 0});
  jobs.part("wrap", "torus", {10, 6}, {5, 3}, {7, 4});
  jobs.part("wrap", "torus", {12, 12, 6}, {6, 8, 3}, {10, 9, 4});
  jobs.part("over half", "torus", {8, 4, 4}, {6, 4, 4}, {0, 0, 0});
  jobs.part("over half", "torus", {12, 4}, {9, 4}, {0, 0});
  jobs.part("over half", "torus", {16, 3}, {11, 3}, {2, 0});
  jobs.part("over half", "torus", {10}, {7}, {5});
  jobs.part("over half", "torus", {40, 2}, {30, 2}, {0, 0});
  jobs.part("over half", "torus", {9, 6, 5}, {6, 6, 5}, {0, 0, 0});
  for (const Extents& units :
       {Extents{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {2, 2, 2}, {4, 2, 1}, {3, 1, 3}, {4, 2, 2}})
    jobs.part("6-D", "torus", {4, 4, 4, 2, 3, 2}, {units[0], units[1], units[2], 2, 3, 2},
              {2, 1, 0, 0, 0, 0});
  jobs.part("6-D", "torus", {4, 4, 4, 2, 3, 2}, {4, 1, 1, 2, 1, 1}, {0, 0, 0, 0, 0, 0});
}

void parts(Jobs& jobs) {
  jobs.holes("mesh", {4, 3, 2}, 3);
  jobs.holes("mesh", {6, 4, 4}, 10);
  jobs.holes("torus", {5, 5, 5}, 20);
  jobs.holes("mesh", {24, 4}, 8);
  jobs.holes("mesh", {40}, 10);
  jobs.holes("torus", {4, 4, 2, 2, 3, 2}, 30);
  jobs.scattered("torus", {8, 8, 8}, 64);
  jobs.scattered("mesh", {16, 16}, 48);
  jobs.scattered("torus", {4, 4, 4, 2, 3, 2}, 96);
  jobs.scattered("mesh", {6, 4, 4}, 96);
}

void several_ranks(Jobs& jobs) {
  const char* const kind = "ranks a node";
  jobs.whole(kind, "mesh", {4, 3, 2}, 4);
  jobs.whole(kind, "torus", {4, 4}, 6);
  jobs.whole(kind, "torus", {4, 4, 4}, 4);
  jobs.whole(kind, "mesh", {12}, 8);
  jobs.whole(kind, "mesh", {3}, 16);
  jobs.part(kind, "torus", {4, 4, 4, 2, 3, 2}, {1, 1, 1, 2, 3, 2}, {0, 0, 0, 0, 0, 0}, 16);
  jobs.part(kind, "torus", {8, 8}, {5, 5}, {6, 6}, 4);
  jobs.add(kind, "4x3x2, 4 a node, round robin", "mesh:4x3x2",
           box_in({4, 3, 2}, {4, 3, 2}, {0, 0, 0}), placement::round_robin(24, 4));
  std::vector<int> unequal;
  for (int node = 0; node < 16; ++node)
    unequal.insert(unequal.end(), size_t(1 + node % 4 * 2), node);
  jobs.add(kind, "torus 4x4, 1 to 7 a node", "torus:4x4", box_in({4, 4}, {4, 4}, {0, 0}),
           placement::Placement(unequal));
}

void trees(Jobs& jobs) {
  const char* const kind = "switches";
  jobs.add(kind, "crossbar, 24 nodes", "crossbar", {}, placement::block(24, 1));
  jobs.add(kind, "crossbar, 16 nodes, 8 a node", "crossbar", {}, placement::block(16, 8));
  jobs.add(kind, "fat tree of 8, tapered 4, 64 nodes", "fattree:8:4", {}, placement::block(64, 1));
  jobs.add(kind, "fat tree of 8, tapered 2, 32 nodes, 4 a node", "fattree:8:2", {},
           placement::block(32, 4));
  jobs.add(kind, "fat tree of 8, tapered 8, 24 nodes, 8 a node", "fattree:8:8", {},
           placement::block(24, 8));
}

}  // namespace

std::string text(const Extents& extents) { return fmt::format("{}", fmt::join(extents, "x")); }

Seats box_in(const Extents& machine, const Extents& job, const Extents& corner) {
  Seats seats;
  for (int n = 0; n < places(job); ++n) {
    int seat = 0, stride = 1, rest = n;
    for (size_t d = machine.size(); d-- > 0; stride *= machine[d], rest /= job[d])
      seat += (rest % job[d] + corner[d]) % machine[d] * stride;
    seats.push_back(seat);
  }
  return seats;
}

std::vector<Job> jobs() {
  Jobs jobs;
  boxes(jobs);
  tori(jobs);
  parts(jobs);
  several_ranks(jobs);
  trees(jobs);
  return jobs.take();
}

}  // namespace haichi::study
