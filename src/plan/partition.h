// Ranks divided into parts of given sizes, so that little is exchanged between the parts.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/effort.h"
#include "plan/rank_graph.h"

namespace haichi::plan {

/// The ranks of each part, ascending.
std::vector<std::vector<int>> members_of(int parts, std::span<const int> part_of);

/// What goes between different parts.
int64_t weight_between(const RankGraph& graph, std::span<const int> part_of);

/// Swaps ranks of each two parts that have an edge between them (Kernighan and Lin 1970, with the
/// two ranks of a swap chosen one after the other, as Fiduccia and Mattheyses 1982 choose them),
/// until no two parts gain or the effort is spent. Sizes stay; what goes between parts never grows.
/// `part_of[r]` is 0..parts-1.
void refine_parts(const RankGraph& graph, int parts, std::vector<int>& part_of, Effort& effort);

/// The part of each rank by bisection, again and again: one half grows from a rank at the rim by
/// the neighbour that adds least to the cut, then both are refined against each other. Part p has
/// `sizes[p]` ranks; the sizes add up to the ranks of the graph. If the effort is spent on the way,
/// the rest is divided as it is numbered.
std::vector<int> bisect(const RankGraph& graph, std::span<const int> sizes, Effort& effort);

/// Moves a few ranks at random, refines, and keeps that if it isn't worse, again and again.
/// `rounds` of it at most. The same numbers at random each time.
void shake_parts(const RankGraph& graph, int parts, std::vector<int>& part_of, int rounds,
                 Effort& effort);

}  // namespace haichi::plan
