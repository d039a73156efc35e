#include "topology/dragonfly.h"

#include <algorithm>

namespace haichi::topology {

Dragonfly::Dragonfly(const Shape& shape)
    : groups_(shape.extents[0]),
      routers_(shape.extents[1]),
      spines_(shape.spines),
      per_router_(shape.extents[2]),
      each_(shape.ups),
      copies_(groups_ < 2 ? 0
                          : std::max(routers_ * (spines_ == 0), spines_) * each_ / (groups_ - 1)),
      local_(spines_ == 0 ? routers_ * routers_ : 2 * routers_ * spines_),
      global_(copies_ * (groups_ - 1)) {}

// Inside a group a link from a router to another has the number of the two; spines come behind the
// leaves, and links up before links down.
int Dragonfly::in_group(int from, int to) const {
  if (spines_ == 0) return from * routers_ + to;
  if (from < routers_) return from * spines_ + to - routers_;
  return routers_ * spines_ + (from - routers_) * routers_ + to;
}

int Dragonfly::end(int link) const {
  const int group = link / (local_ + global_), at = link % (local_ + global_);
  const int first = group * (routers_ + spines_);
  if (at < local_) {
    if (spines_ == 0) return first + at % routers_;
    const int ups = routers_ * spines_;
    return first + (at < ups ? routers_ + at % spines_ : (at - ups) % routers_);
  }
  // The other end is the same copy of the link from there to here.
  const int global = at - local_, others = groups_ - 1;
  const int other = global % others + (global % others >= group ? 1 : 0);
  const int back = global / others * others + group - (group > other ? 1 : 0);
  return other * (routers_ + spines_) + (spines_ == 0 ? 0 : routers_) + back / each_;
}

int Dragonfly::next(int router, int place, int via) const {
  const int size = routers_ + spines_, links = local_ + global_;
  const int group = router / size, at = router % size, target = group_of(place);
  const int first = group * links;
  if (group == target) {
    const int leaf = router_of(place) % size;
    if (at == leaf) return -1;
    const bool up = spines_ > 0 && at < routers_;
    return first + in_group(at, up ? routers_ + place % spines_ : leaf);
  }
  const int toward = via >= 0 && via != group ? via : target;
  const int copy = place % copies_;
  const int global = copy * (groups_ - 1) + toward - (toward > group ? 1 : 0);
  const int exit = (spines_ == 0 ? 0 : routers_) + global / each_;
  if (at == exit) return first + local_ + global;
  const bool down = spines_ > 0 && at >= routers_;  // from one spine to another by a leaf
  return first + in_group(at, down ? place % routers_ : exit);
}

}  // namespace haichi::topology
