// The threads that move bytes: a few for each NUMA node, on that node's processors, asleep while
// there is nothing to do.
//
// Why own threads and not the program's: only a thread that runs on a node makes what it copies
// local there (paper 003, section 4). They take no signals, run on no processor that the caller may
// not use, and are made when they are first needed. A fork leaves them to the parent: the child
// makes its own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "numaio/host_nodes.h"
#include "numaio/piece.h"

namespace haichi::numaio {

/// What is to be moved, by whom.
struct Work {
  std::span<const std::vector<Piece>> pieces;  ///< of each node
  std::span<const int> threads;                ///< of each node
  int caller_node;
};

/// One transfer at a time; who comes meanwhile is told so and does without.
class Pool {
 public:
  explicit Pool(HostNodes nodes);
  /// Only of one whose threads have never been needed.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const HostNodes& nodes() const { return nodes_; }
  /// While nothing is under way. When it returns none of the threads is left; run() makes new ones.
  void end_threads();
  /// Whether a thread is likely to be awake still, so that a transfer begins at once.
  bool hot() const;

  /// Moves all pieces by `move`, which must not throw and may be called by several threads at once.
  /// The calling thread is one of them, on its node, and moves what no thread could be made for.
  /// Returns how many threads took part.
  int run(const Work& work, const std::function<void(const Piece&, int node)>& move);

 private:
  struct Job;
  struct Worker;
  Worker* worker(int node, int number);
  static void* work(void* worker);
  void take_pieces(Job& job, int node);
  /// Those of the node that the caller runs on, wherever that is by now.
  void take_pieces_here(Job& job, int caller_node);
  int call_off(Job& job, const std::vector<Worker*>& woken);
  void wait_for_all();

  HostNodes nodes_;
  std::vector<std::vector<std::unique_ptr<Worker>>> workers_;  // of each node
  std::atomic<int> running_ = 0;  // threads that have work of the transfer under way
  std::atomic<int64_t> warm_until_ns_ = 0;
};

}  // namespace haichi::numaio
