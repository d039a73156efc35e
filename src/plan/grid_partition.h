// Divisions of a Cartesian grid into parts of given sizes, as blocks or nearly so.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <span>
#include <vector>

#include "plan/rank_graph.h"

namespace haichi::plan {

/// The part of each rank of the grid, in several ways, those with less between parts first, `most`
/// of them. Part p has `sizes[p]` ranks; the sizes add up to the ranks of the grid.
///
/// The ways: the grid is walked tile by tile, for the shapes of a tile that have as many ranks as a
/// part; or it is cut into slabs along one dimension, those along another one, and so on, for the
/// numbers of cuts and orders of dimensions; or it is halved again and again across the dimension
/// that costs least. A shape's surface tells whether it is tried. Takes some hundred steps a rank.
std::vector<std::vector<int>> divide_grid(const Grid& grid, const RankGraph& graph,
                                          std::span<const int> sizes, int most);

}  // namespace haichi::plan
