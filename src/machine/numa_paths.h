// What moving bytes between the NUMA nodes of one machine costs: the path matrix that a split of a
// large read or write over threads is planned by (paper 003, section 8).
//
// A byte goes from the memory of its source node to the memory of its target node, moved by a
// thread on a third. Rates are GB/s (10^9 bytes a second).
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi::machine {

/// Paper 003, Table 2: where a thread stands to the memory it reads and the memory it writes.
enum class Route { local, pull, push, relay, round_trip };
inline constexpr std::array<std::string_view, 5> kRouteNames = {"local", "pull", "push", "relay",
                                                                "round-trip"};

constexpr Route route_of(int source, int thread, int target) {
  if (source == target) return source == thread ? Route::local : Route::round_trip;
  if (target == thread) return Route::pull;
  return source == thread ? Route::push : Route::relay;
}

/// Largest number of NUMA nodes; the kernel's own limit is 1024, and no machine has as many.
inline constexpr int kMostNumaNodes = 64;

/// The matrix. Nodes go by the kernel's numbers; a number that no node has, and a node of memory
/// alone, have no cores.
class NumaPaths {
 public:
  NumaPaths() = default;
  NumaPaths(std::vector<int> cores, std::vector<int> distances);

  int nodes() const { return int(cores_.size()); }
  /// Threads that may run on a node.
  int cores(int node) const { return cores_[size_t(node)]; }
  /// Relative, as ACPI's SLIT has it: 10 is local.
  int distance(int from, int to) const { return distances_[square(from, to)]; }
  /// What one thread moves along a path while nothing else runs.
  double thread_gbs(int source, int thread, int target) const {
    return rates_[size_t(thread) * square(nodes(), 0) + square(source, target)];
  }
  /// What the memory of a node reads and writes at most; a byte that is written counts
  /// write_weight().
  double memory_gbs(int node) const { return memory_gbs_[size_t(node)]; }
  /// What the memory of a node gives to, and takes from, threads of other nodes.
  double served_gbs(int node) const { return served_gbs_[size_t(node)]; }
  /// 1 for stores that pass by the caches, 2 where a line is read before it is written.
  double write_weight() const { return write_weight_; }

  void set_thread_gbs(int source, int thread, int target, double gbs) {
    rates_[size_t(thread) * square(nodes(), 0) + square(source, target)] = gbs;
  }
  void set_memory_gbs(int node, double gbs) { memory_gbs_[size_t(node)] = gbs; }
  void set_served_gbs(int node, double gbs) { served_gbs_[size_t(node)] = gbs; }
  void set_write_weight(double weight) { write_weight_ = weight; }
  void set_cores(int node, int cores) { cores_[size_t(node)] = cores; }

 private:
  size_t square(int row, int column) const { return size_t(row) * cores_.size() + size_t(column); }

  std::vector<int> cores_, distances_;
  std::vector<double> rates_, memory_gbs_, served_gbs_;
  double write_weight_ = 1;
};

/// A matrix for a machine that nobody has measured, from its distances alone. Assumed, not
/// measured: a thread is slower by the distance of what it touches, a controller is saturated by 6
/// threads, and a node serves to others what two fifths of that are (docs/guide/numaio.md).
/// `distances` is row by row.
NumaPaths assumed_paths(std::vector<int> cores, std::vector<int> distances);

/// The member "numa" of haichi.machine/2. Fails with EINVAL and a line: which key is wrong.
Result<NumaPaths> read_numa(const nlohmann::json& object);
nlohmann::json numa_json(const NumaPaths& paths);

}  // namespace haichi::machine
