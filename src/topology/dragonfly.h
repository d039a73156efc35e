// The links of a dragonfly (J. Kim, W. Dally, S. Scott, D. Abts, ISCA 2008) and of a dragonfly+ (A.
// Shpiner et al., HiPINEB 2017), and the ways over them.
//
// Routers are in groups. In a group of a dragonfly each router has a link to each other one; in one
// of a dragonfly+ each leaf has a link to each spine. Every group has as many links to each other
// group as its routers, or spines, have places for: they are dealt to the other groups in turns. A
// place's number says which of several links to its group a message takes, and which spine inside a
// group, as static routing does.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include "topology/shape.h"

namespace haichi::topology {

class Dragonfly {
 public:
  /// Of a shape whose kind is dragonfly.
  explicit Dragonfly(const Shape& shape);

  /// Links are numbered from 0, group by group.
  int links() const { return groups_ * (local_ + global_); }
  bool is_global(int link) const { return link % (local_ + global_) >= local_; }
  /// The router to which the link leads.
  int end(int link) const;
  /// The router, or leaf, that a place is on.
  int router_of(int place) const {
    return place / (routers_ * per_router_) * (routers_ + spines_) + place / per_router_ % routers_;
  }
  int groups() const { return groups_; }
  int group_of(int place) const { return place / (routers_ * per_router_); }
  /// The link that a message at `router` takes next to get to `place`; -1 if it is on that router.
  /// It goes to the group `via` first, if that is not -1, nor its own or the place's group.
  int next(int router, int place, int via) const;

 private:
  int in_group(int from, int to) const;

  int groups_, routers_, spines_, per_router_;
  int each_;    // links between groups of a router, or of a spine
  int copies_;  // links from a group to each other one
  int local_;   // links inside a group
  int global_;  // links from a group to others
};

}  // namespace haichi::topology
