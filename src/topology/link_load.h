// How many messages go over the fullest link of a network.
//
// Why: paper 004 (section 3.4) divides the bisection bandwidth of a full cuboid by the ranks that
// share it. A job may have any part of a machine: with holes, round the end of a torus, over more
// than half of it, so that routes leave the job's nodes. Counting messages on links needs no such
// shape: it knows only the places, and the rules by which the network routes.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/dragonfly.h"
#include "topology/shape.h"

namespace haichi::topology {

/// Messages from one node to another.
struct Flow {
  int from, to;  ///< nodes
  int64_t messages;
};

/// What some messages do to a network.
struct PathLoad {
  int64_t messages = 0;  ///< over the fullest link
  int hops = 0;          ///< links of the longest way
};

/// The links between places; the nodes' own ports are not among them. Messages are of one size.
/// Not thread-safe: it keeps memory for its work.
class LinkLoads {
 public:
  /// places[n] is that of node n, each below shape.places().
  LinkLoads(const Shape& shape, std::span<const int> places);

  /// Of a uniform exchange: node a has weights[a] * weights[b] messages for each node b.
  ///
  /// On a mesh or torus a message from a to b moves along dimension d on the line (b_0 .. b_(d-1),
  /// *, a_(d+1) ..). Which sources send into a line does not depend on the target, so that the
  /// messages over one of its links are sums of products of counts: the time grows with the number
  /// of lines times their length, not with the pairs of nodes. See "Link loads" in docs/notes.md.
  int64_t uniform(std::span<const int64_t> weights) const;

  /// Of any messages. The time grows with flows times dimensions, and the lines that they touch.
  PathLoad of(std::span<const Flow> flows);

 private:
  // A node's coordinate along a dimension, and the parts of its place that the dimensions before
  // and after it make up.
  struct At {
    int coordinate, before, after;
  };
  const At& at(int node, size_t d) const { return at_[size_t(node) * dimensions() + d]; }
  size_t dimensions() const { return shape_.extents.size(); }
  int way(int node) const { return places_[size_t(node)] % shape_.ups; }
  int switch_of(int node) const { return places_[size_t(node)] / shape_.per_switch; }

  int64_t uniform_in_dragonfly(std::span<const int64_t> weights) const;
  PathLoad in_dragonfly(std::span<const Flow> flows) const;
  int64_t uniform_in_tree(std::span<const int64_t> weights) const;
  int64_t uniform_along(size_t d, std::span<const int64_t> weights) const;
  int hops(const Flow& flow) const;
  PathLoad in_tree(std::span<const Flow> flows);
  int64_t along(size_t d, std::span<const Flow> flows);
  void add(std::vector<int64_t>& starts, int line, size_t d, int from, int links,
           int64_t messages) const;

  Shape shape_;
  std::optional<Dragonfly> dragonfly_;
  std::vector<int> places_;
  std::vector<At> at_;
  std::vector<int> strides_;
  // Work of of(): by place, how many more messages begin than end there.
  std::vector<int64_t> up_, down_;
  std::vector<int> lines_;     // touched
  std::vector<char> touched_;  // by the first place of a line
};

}  // namespace haichi::topology
