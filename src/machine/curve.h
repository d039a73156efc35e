// What a message takes by its size, measured: a Hockney line L + M/B for each protocol.
//
// Why not one latency and one rate: MPI libraries change how they send at some sizes, and a message
// of twice the bytes may then take four times as long.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/size_curve.h"

namespace haichi::machine {

/// How near two ranks are to each other, nearest first.
enum class Place : uint8_t {
  core,     ///< both bound to the same one core
  numa,     ///< bound to cores of one NUMA node
  node,     ///< on one node, further apart or not known to be nearer
  network,  ///< on two nodes
};
inline constexpr std::array<std::string_view, 4> kPlaceNames = {"core", "numa", "node", "network"};

/// One protocol's line.
struct Piece {
  double from, to;  ///< bytes that it holds for
  double latency;   ///< seconds; below 0 where a line that begins at a large size is steep
  double per_byte;  ///< seconds

  double seconds(double bytes) const { return latency + per_byte * bytes; }
};

/// One way from rank to rank, as half a ping-pong.
struct Curve {
  Place place;
  std::vector<Piece> pieces;  ///< ascending, at least one
  SizeCurve points = {};      ///< what the pieces were made of; empty if the file does not tell

  /// The piece for that size: beyond all of them the nearest one, between two the line from one to
  /// the other.
  Piece piece_for(double bytes) const;
  double seconds(double bytes) const { return piece_for(bytes).seconds(bytes); }
  /// By the points, where there are any: closer to what was measured than the lines.
  double seconds_at(double bytes, Bound bound = Bound::middle) const {
    return points.empty() ? seconds(bytes) : points.at(bytes, bound);
  }
};

/// The one of that place; inside a node, where that was not measured, the nearest to it that was.
/// Null if there is none.
const Curve* curve_for(const std::vector<Curve>& curves, Place place);

}  // namespace haichi::machine
