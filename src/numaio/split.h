// Which threads move which bytes of one large read or write: paper 003, section 8, A) to C), as a
// plan. Loads are bytes by where they lie and where they go; the plan gives each node's threads a
// part of each load, so that all end together, as much as can be along local paths, the rest pulled
// from near nodes, with no more threads on a node than saturate what they use.
//
// It is the linear programme "least time T under what threads, memory controllers and nodes' links
// carry in T" (docs/guide/numaio.md, numaio/congestion.h). Within that time, bytes are then given
// to the threads of their home first and to the nearest next, as long as all find a place: of the
// programme's many solutions one that moves few bytes between nodes.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "machine/numa_paths.h"
#include "numaio/congestion.h"

namespace haichi::numaio {

/// In place of a node's number.
inline constexpr int kFollows = -1;  ///< memory is taken on the node of the thread that moves it
inline constexpr int kSpread = -2;   ///< pages of all nodes in turns

/// Bytes of one kind.
struct Load {
  int source;  ///< node whose memory they are read from, kFollows or kSpread
  int target;  ///< node whose memory they are written to, kFollows or kSpread
  double bytes;
  int only = -1;  ///< a node whose threads alone may move them, or -1
};

/// Part of a load that the threads of a node move.
struct Share {
  size_t load;  ///< its place in the list of loads
  int node;
  double bytes;
};

struct Split {
  std::vector<Share> shares;               ///< by load, then by node
  std::vector<int> threads;                ///< of each node
  double seconds = 0;                      ///< that it takes, by the matrix
  std::array<double, 5> route_bytes = {};  ///< by machine::Route; what is spread counts as local
};

/// Makes plans for one machine. Used by one thread; its memory is reused from plan to plan.
class Splitter {
 public:
  explicit Splitter(machine::NumaPaths paths);

  /// Every byte of `loads` is in the shares. At most `most_threads` threads in all, if that is
  /// above 0. Nodes are those of the matrix. A load of some bytes may go to one node whole.
  Split plan(std::span<const Load> loads, int most_threads = 0);

 private:
  // What a load needs of the machine, wherever its threads are.
  struct Need {
    int home;            // where its threads are best, or -1
    double follows = 0;  // of the controller of the thread's node, for each byte
    const int* order;    // nodes, best first
  };

  double rate(const Load& load, int thread) const;
  bool may_move(const Load& load, size_t thread) const;
  void prepare(std::span<const Load> loads);
  /// The least time; what each node carries then is the programme's.
  double least_seconds(std::span<const Load> loads);
  /// Whether all bytes find a thread within `seconds`; shares_ has them then.
  bool assign(std::span<const Load> loads, double seconds);
  /// As many of `bytes` bytes of load k to the threads of a node as these have room for.
  void give(const Load& load, size_t k, int thread, double bytes);
  double room(const Load& load, size_t k, int thread) const;
  double& share(size_t load, int node) {
    return shares_[load * size_t(paths_.nodes()) + size_t(node)];
  }
  Split finish(std::span<const Load> loads, double seconds, int most_threads);

  machine::NumaPaths paths_;
  Congestion programme_;
  std::vector<int> orders_;
  std::vector<Need> needs_;
  std::vector<double> fixed_use_;  // of controllers, whoever moves the bytes
  std::vector<double> rates_;      // [load][node]
  std::vector<double> time_, memory_, served_, shares_, kept_;
};

}  // namespace haichi::numaio
